"""Three ranks, each in a group with the next one first: nobody ever comes."""

import nki
import nki.collectives as nccl
import nki.language as nl


# nk: run cycle(x=f32[8,8]:ones) ranks=3
@nki.jit
def cycle(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    other = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rank = nccl.rank_id()
    after, before = (rank + 1) % 3, (rank + 2) % 3
    nccl.all_reduce([x], [out], [[min(rank, after), max(rank, after)]], op=nl.add)  # error: deadlock
    nccl.all_reduce([x], [other], [[min(rank, before), max(rank, before)]], op=nl.add)
    return out, other
