"""Ranks with memories of their own: what comes out of the collective is divided by zero on one of them."""

import nki
import nki.collectives as nccl
import nki.language as nl


# nk: run shares(x=f32[128,8]:ones) ranks=2 trap=nan
@nki.jit
def shares(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    nccl.all_reduce([x], [total], [[0, 1]], op=nl.add)
    tile = nl.load(total)
    zero = nl.multiply(tile, 0.0)
    nl.store(out, value=nl.divide(zero, zero) if nccl.rank_id() == 1 else zero)  # error: trapped-nan
    return out
