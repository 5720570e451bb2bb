"""Addresses chosen by the kernel: elements lie at multiples of their size, and what is placed beside them fits in."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run packed(x=bf16[128,3]:randn(0))
# nk: expect packed_reference
@nki.jit
def packed(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    columns = []
    for i in range(3):
        # A stack allocator packs columns of two bytes.
        column = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf, address=(0, 2 * i))
        nisa.dma_copy(dst=column, src=x[:, i:i + 1])
        columns.append(column)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=total, data1=columns[0], data2=columns[2], op=nl.add)
    for i in range(3):
        product = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=product, data1=columns[i], data2=total, op=nl.multiply)
        nisa.dma_copy(dst=out[:, i:i + 1], src=product)
    return out


def packed_reference(x):
    return x * (x[:, 0:1] + x[:, 2:3])
