"""The classic way to add to rows of HBM: a copy with an operator."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run every_other_row(x=f32[64,32]:randn(0))
# nk: expect every_other_row_reference
@nki.jit
def every_other_row(x):
    out = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:64, 0:32]
    tile = nl.load(x[i_p, i_f])
    index = nisa.iota(2 * nl.arange(64)[:, None], dtype=np.int32)
    nl.store(out, value=nisa.memset(shape=(128, 32), value=1, dtype=x.dtype))
    nisa.dma_copy(dst=out[index, i_f], src=tile, dst_rmw_op=np.add)
    return out


def every_other_row_reference(x):
    out = np.ones((128, 32), dtype=np.float32)
    out[0::2] += x
    return out


# nk: run masked(x=f32[64,32]:randn(1))
# nk: expect masked_reference
@nki.jit
def masked(x):
    out = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:64, 0:32]
    nl.store(out, value=nl.load(x))
    index = nisa.iota(nl.arange(64)[:, None], dtype=nl.int32)
    nisa.dma_copy(dst=out[index, i_f], src=nl.load(x), dst_rmw_op=nl.add, mask=(i_p < 40))
    return out


def masked_reference(x):
    out = x.copy()
    out[:40] += x[:40]
    return out
