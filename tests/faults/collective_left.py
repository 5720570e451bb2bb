"""A rank ends and the other still waits for it."""

import nki
import nki.collectives as nccl
import nki.isa as nisa
import nki.language as nl


# nk: run left(x=f32[8,8]:ones) ranks=2
@nki.jit
def left(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    if nccl.rank_id() == 0:
        nccl.all_reduce([x], [out], [[0, 1]], op=nl.add)  # error: deadlock
    else:
        nisa.dma_copy(dst=out, src=x)
    return out
