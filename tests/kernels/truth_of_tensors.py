"""A tensor that was given is true, in HBM and on chip; `None` is not."""

import nki
import nki.isa as nisa
import nki.language as nl


def added(x, bias=None):
    return x + 1 if bias is None else x + bias


# nk: run kernel(x=f32[4,4]:arange, bias=f32[4,4]:ones)
# nk: expect added
# nk: run kernel(x=f32[4,4]:arange)
# nk: expect added
@nki.jit
def kernel(x, bias=None):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    addend = None
    if bias:
        addend = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=addend, src=bias)
    if addend and tile:
        nisa.tensor_tensor(dst=tile, data1=tile, data2=addend if addend else tile, op=nl.add)
    else:
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out
