"""`+=` of a matmul adds in PSUM; of anything else it is an instruction in place."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run matmul(a=f32[256,128]:randn(0), b=f32[256,96]:randn(1))
# nk: expect matmul_reference rtol=1e-3
@nki.jit
def matmul(a, b):
    out = nl.ndarray((3, 128, 96), dtype=a.dtype, buffer=nl.shared_hbm)
    by_name = nl.zeros((nl.par_dim(128), 96), nl.float32, buffer=nl.psum)
    by_view = nl.zeros((2, nl.par_dim(128), 96), nl.float32, buffer=nl.psum)
    in_sbuf = nl.zeros((nl.par_dim(128), 96), nl.float32, buffer=nl.sbuf)
    for k in nl.affine_range(2):
        left = nl.load(a[k * 128:(k + 1) * 128, :])
        right = nl.load(b[k * 128:(k + 1) * 128, :])
        by_name += nl.matmul(left, right, transpose_x=True)
        by_view[1, :, 0:96] += nisa.nc_matmul(left, right)
        in_sbuf += nisa.nc_matmul(left, right)
    nl.store(out[0], nl.copy(by_name))
    nl.store(out[1], nl.copy(by_view[1]))
    nl.store(out[2], in_sbuf)
    return out


def matmul_reference(a, b):
    product = np.matmul(np.transpose(a), b)
    return np.stack([product, product, product])


# nk: run in_place(x=f32[64,32]:randn(0))
# nk: expect in_place_reference
@nki.jit
def in_place(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    alias = tile
    tile += 1.0
    tile *= 2
    tile[:, 0:16] -= tile[:, 16:32]
    tile += tile[:, 0:1]
    nl.store(out, alias)
    return out


def in_place_reference(x):
    y = 2 * (x + 1)
    y[:, 0:16] -= y[:, 16:32]
    return y + y[:, 0:1]


# nk: run reduced(x=f32[4,3,64,16]:randn(0))
# nk: expect reduced_reference
@nki.jit
def reduced(x):
    out = nl.ndarray((2, 64, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    greatest = nl.ndarray((4, nl.par_dim(64), 1), dtype=nl.float32)
    for i in nl.affine_range(4):
        for j in nl.affine_range(3):
            tile = nl.load(x[i, j])
            greatest[i, nl.arange(64)[:, None], 0] = nl.loop_reduce(nl.max(tile, axis=1), op=np.max, loop_indices=[j])
            total = nl.loop_reduce(nl.sum(tile, axis=1), op=np.add, loop_indices=[j], dtype=nl.float32)
        nl.store(out[0, :, i:i + 1], greatest[i])
        nl.store(out[1, :, i:i + 1], total)
    return out


def reduced_reference(x):
    return np.stack([np.transpose(np.max(x, axis=(1, 3))), np.transpose(np.sum(x, axis=(1, 3)))])
