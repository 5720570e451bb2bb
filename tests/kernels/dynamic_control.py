"""Loops of the device inside loops of the device, with bounds from registers, and loops whose end is read from memory."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run nested(x=f32[4,64,32]:randn(0), rows=i32[1,1]:ones)
# nk: expect nested_reference
@nki.jit
def nested(x, rows):
    out = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    count = nisa.register_alloc()
    nisa.register_load(count, nl.load(rows))
    tile = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.sbuf)

    def outer(i):
        def inner(j):
            nisa.dma_copy(dst=tile, src=x.select(0, j))
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
            nisa.dma_copy(dst=tile, src=x.select(0, i))
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)

        nl.fori_loop(0, 2, inner)

    nl.fori_loop(0, count, outer)
    nisa.dma_copy(dst=out, src=total)
    return out


def nested_reference(x, rows):
    return 3.0 * x[0] + x[1]
