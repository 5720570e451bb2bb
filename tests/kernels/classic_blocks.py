"""Block dimensions: one tile per block index, before nl.par_dim."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


# nk: run blocks(x=f32[2,3,64,32]:randn(0))
# nk: expect blocks_reference
@nki.jit
def blocks(x):
    out = nl.ndarray((2, 3, nl.par_dim(64), 32), dtype=x.dtype, buffer=nl.shared_hbm)
    loaded = nl.ndarray((2, 3, nl.par_dim(64), 32), dtype=x.dtype, buffer=nl.sbuf)
    totals = nl.zeros((2, nl.par_dim(64), 1), dtype=nl.float32, buffer=nl.sbuf)
    assert loaded.shape == (2, 3, 64, 32) and loaded.dtype == x.dtype
    for i in nl.affine_range(2):
        row = loaded[i]
        for j in nl.affine_range(3):
            row[j] = nl.load(x[i, j])
            totals[i] += nl.sum(loaded[i, j], axis=1)
    for i in nl.affine_range(2):
        for j in nl.affine_range(3):
            nl.store(out[i, j], value=loaded[i, j, :, 0:32] * totals[i])
    return out


def blocks_reference(x):
    return x * np.sum(x, axis=(1, 3), keepdims=True)


# nk: run filled_blocks()
# nk: expect filled_blocks_reference rtol=0
@nki.jit
def filled_blocks():
    out = nl.ndarray((2, 8, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    tiles = nl.full((2, nl.par_dim(8), 4), 3.0, dtype=nl.float32, buffer=nl.sbuf)
    tiles[...] = 5.0
    for i in range(2):
        nl.store(out[i], tiles[i])
    return out


def filled_blocks_reference():
    return np.full((2, 8, 4), 5.0, dtype=np.float32)
