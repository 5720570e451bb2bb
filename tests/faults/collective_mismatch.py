"""One rank adds, the other takes the largest."""

import nki
import nki.collectives as nccl
import nki.language as nl


# nk: run confused(x=f32[8,8]:ones) ranks=2
@nki.jit
def confused(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if nccl.rank_id() == 0:
        nccl.all_reduce([x], [out], [[0, 1]], op=nl.add)  # error: collective-mismatch
    else:
        nccl.all_reduce([x], [out], [[0, 1]], op=nl.maximum)
    return out
