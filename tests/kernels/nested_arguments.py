"""Arguments as users have them: nested tuples with tensors inside, functions, strings, dtypes and None."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def doubled(tile):
    return nl.multiply(tile, 2.0)


# nk: run kernel(groups=((f32[64,32]:randn(0), 2.0), (f32[64,32]:randn(1), (f32[64,32]:randn(2), 3))), change=doubled, op=nl.maximum, dtype=nl.bfloat16, mode="sum", bias=None)
# nk: expect kernel_reference rtol=2e-2
@nki.jit
def kernel(groups, change, op, dtype, mode, bias):
    (first, scale), (second, (third, power)) = groups
    out = nl.ndarray(first.shape, dtype=dtype, buffer=nl.shared_hbm)
    total = nl.multiply(change(nl.load(first)), scale)
    if mode == "sum" and bias is None:
        tile = nl.load(third)
        for i in range(power):
            total = nl.add(total, tile)
    result = nl.ndarray(total.shape, dtype=dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=result, data1=total, data2=nl.load(second), op=op)
    nl.store(out, result)
    # Results nest as arguments do.
    return (out, (nl_copy(first), [nl_copy(second)]))


def nl_copy(x):
    copy = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=copy, src=x)
    return copy


def kernel_reference(groups, change, op, dtype, mode, bias):
    (first, scale), (second, (third, power)) = groups
    return np.maximum(2 * first * scale + power * third, second), first, second
