"""Rectangular masks cut an access; the rest of a ragged tile is never touched."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run softmax(x=f32[300,96]:randn(0))
# nk: expect softmax_reference
@nki.jit
def softmax(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    n_rows, n_columns = x.shape
    ix = nl.arange(128)[:, None]
    iy = nl.arange(n_columns)[None, :]
    for i in nl.affine_range((n_rows + 127) // 128):
        tile = nl.load(x[i * 128 + ix, iy], mask=(i * 128 + ix < n_rows))
        # Nothing here says that the last tile is ragged.
        exponentials = nl.exp(tile)
        result = exponentials / nl.sum(exponentials, axis=[1])
        nl.store(out[i * 128 + ix, iy], value=result, mask=(i * 128 + ix < n_rows))
    return out


def softmax_reference(x):
    exponentials = np.exp(x)
    return exponentials / np.sum(exponentials, axis=1, keepdims=True)


# nk: run corner(x=f32[128,64]:randn(0))
# nk: expect corner_reference
@nki.jit
def corner(x):
    out = nl.ndarray((64, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(128)[:, None]
    i_f = nl.arange(64)[None, :]
    tile = nl.load(x[i_p, i_f])
    squares = nl.square(tile, mask=(i_p < 64) & (i_f < 16))
    nl.store(out[i_p, i_f], squares[i_p, i_f], mask=(i_p < 64 and i_f < 16))
    return out


def corner_reference(x):
    return np.square(x[:64, :16])


# nk: run ragged_matmul(a=f32[128,64]:randn(0), b=f32[128,700]:randn(1))
# nk: expect ragged_matmul_reference rtol=1e-3
@nki.jit
def ragged_matmul(a, b):
    out = nl.ndarray((64, 700), dtype=a.dtype, buffer=nl.shared_hbm)
    i_k, i_m, i_n = nl.arange(128)[:, None], nl.arange(64)[:, None], nl.arange(512)[None, :]
    left = nl.load(a)
    for j in nl.affine_range(2):
        inside = -512 * j - i_n + 699 >= 0
        right = nl.load(b[i_k, 512 * j + i_n], mask=inside)
        product = nl.zeros((nl.par_dim(64), 512), dtype=nl.float32, buffer=nl.psum)
        product[i_m, i_n] += nisa.nc_matmul(left, right[i_k, i_n], mask=inside)
        result = nl.copy(product[i_m, i_n], mask=inside)
        nl.store(out[i_m, 512 * j + i_n], value=result, mask=inside)
    return out


def ragged_matmul_reference(a, b):
    return np.matmul(np.transpose(a), b)


# nk: run constant_masks(x=f32[128,32]:randn(0))
# nk: expect constant_masks_reference rtol=0
@nki.jit
def constant_masks(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    for i in nl.affine_range(3):
        tile[...] = nl.add(tile, 1.0, mask=(i < 2))
    nl.store(out, tile)
    return out


def constant_masks_reference(x):
    return x + np.float32(1) + np.float32(1)
