# nk: run kernel(x=f32[4,64,16]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def kernel(x):
    out = nl.ndarray((64, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        part = i + 0
        total = nl.loop_reduce(nl.load(x[i]), op=np.add, loop_indices=[part])  # error: unsupported-syntax
    nl.store(out, total)
    return out
