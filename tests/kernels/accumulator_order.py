"""A sum that goes on from activation_reduce: no order may put the two the other way round, however long one waits."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run goes_on(y=f32[128,2048]:randn(0))
# nk: expect goes_on_reference
@nki.jit
def goes_on(y):
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    both = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    loaded = nl.ndarray(y.shape, dtype=y.dtype, buffer=nl.sbuf)
    copied = nl.ndarray(y.shape, dtype=y.dtype, buffer=nl.sbuf)
    ones = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    first = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    second = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=loaded, src=y)
    nisa.tensor_copy(dst=copied, src=loaded)
    nisa.memset(dst=ones, value=1.0, engine=nisa.engine.gpsimd)
    nisa.activation_reduce(dst=copied, op=nl.copy, data=copied, reduce_op=nl.add, reduce_res=first)
    nisa.activation(
        dst=ones, op=nl.copy, data=ones, reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=second
    )
    nisa.dma_copy(dst=both, src=second)
    nisa.dma_copy(dst=sums, src=first)
    return sums, both


def goes_on_reference(y):
    total = np.sum(y, axis=1, keepdims=True)
    return total, total + 64
