"""Arguments that a call passes by position or as keywords, given by name."""

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def shifted(x, by):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=float(by))
    nisa.dma_copy(dst=out, src=tile)
    return out


def shifted_by_seven(**arguments):
    return arguments["x"] + 7


# nk: run by_position(x=f32[4,4]:arange, scale=4, more=(1, 2), keywords={"by": 1})
# nk: expect shifted_by_seven
# nk: run by_position(x=f32[4,4]:arange, scale=6, by=1)
# nk: expect shifted_by_seven
# nk: run by_position(x=f32[4,4]:arange, keywords={"by": 6}, more=("one",))
# nk: expect shifted_by_seven
@nki.jit
def by_position(x, /, scale=0, *more, **keywords):
    return shifted(x, scale + len(more) + keywords["by"])


def nested_reference(pair, operation, names):
    return np.maximum(pair[0], pair[1][0]) + len(names["long"])


# nk: run nested(pair=(f32[4,8]:randn(0), (f32[4,8]:randn(1), None)), operation=nl.maximum, names={"long": "four"})
# nk: expect nested_reference
@nki.jit
def nested(pair, operation, names):
    """A tensor in a tuple in a tuple, a function, and a dict."""
    first, (second, nothing) = pair
    assert nothing is None
    a = nl.ndarray(first.shape, dtype=first.dtype, buffer=nl.sbuf)
    b = nl.ndarray(second.shape, dtype=second.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=first)
    nisa.dma_copy(dst=b, src=second)
    nisa.tensor_tensor(dst=a, data1=a, data2=b, op=operation)
    nisa.tensor_scalar(dst=a, data=a, op0=nl.add, operand0=float(len(names["long"])))
    out = nl.ndarray(first.shape, dtype=first.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=a)
    return out
