"""Index tensors: affine forms of nl.arange and nl.mgrid as subscripts."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


# nk: run strided(x=f32[64,256]:randn(0))
# nk: expect strided_reference rtol=0
@nki.jit
def strided(x):
    out = nl.ndarray((2, 64, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.arange(64)[:, None]
    columns = nl.arange(64)[None, :]
    for half in nl.affine_range(2):
        tile = nl.load(x[rows, 2 * columns + half * 128 + 1])
        nl.store(out[half, rows, columns], value=tile)
    return out


def strided_reference(x):
    return np.stack([x[:, 1:128:2], x[:, 129:256:2]])


# nk: run windows(x=f32[8,6,6]:randn(0))
# nk: expect windows_reference rtol=0
@nki.jit
def windows(x):
    out = nl.ndarray((8, 3, 3, 2, 2), dtype=x.dtype, buffer=nl.shared_hbm)
    image = nl.load(x)
    grid = nl.mgrid[0:8, 0:3, 0:3, 0:2, 0:2]
    i_p, i_y, i_x, i_dy, i_dx = grid
    pooled = nl.copy(image[i_p, 2 * i_y + i_dy, 2 * i_x + i_dx])
    assert pooled.shape == (8, 3, 3, 2, 2)
    nl.store(out[grid.p, grid.x, grid.y, grid.z, grid.w], value=pooled)
    return out


def windows_reference(x):
    return np.transpose(np.reshape(x, (8, 3, 2, 3, 2)), (0, 1, 3, 2, 4))


# nk: run pieces(x=f32[4,128,32]:randn(0))
# nk: expect pieces_reference rtol=0
@nki.jit
def pieces(x):
    out = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((nl.par_dim(128), 4, 32), dtype=x.dtype, buffer=nl.sbuf)
    i_p, i_f = nl.mgrid[0:128, 0:32]
    for b in nl.affine_range(4):
        tile[i_p, b, i_f] = nl.load(x[b, i_p, i_f])
    # A number on the partition dimension picks one partition.
    tile[0, 3, nl.arange(32)[None, :]] = nl.copy(tile[0, 0, nl.arange(32)[None, :]])
    nl.store(out[i_p, i_f], value=tile[i_p, 3, i_f])
    return out


def pieces_reference(x):
    out = np.copy(x[3])
    out[0] = x[0, 0]
    return out
