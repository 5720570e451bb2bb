"""Kernels whose live tiles do not fit into SBUF: they run with --spill only."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run backwards(x=f32[128,65536]:randn(0))
# nk: expect backwards_ref
@nki.jit
def backwards(x):
    """Computed tiles that are all live at once, used in reverse order: some are saved and come back."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    doubled = []
    for i in range(8):
        tile = nl.load(x[:, i * 8192 : (i + 1) * 8192])
        double = nl.ndarray((128, 8192), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(double, tile, nl.multiply, 2.0)
        doubled.append(double)
    for i in range(8):
        nl.store(out[:, i * 8192 : (i + 1) * 8192], value=doubled[7 - i])
    return out


def backwards_ref(x):
    tiles = [x[:, i * 8192 : (i + 1) * 8192] * 2.0 for i in range(8)]
    return np.concatenate([tiles[7 - i] for i in range(8)], axis=1)


# nk: run reloaded(x=f32[128,57344]:randn(1))
# nk: expect reloaded_ref
@nki.jit
def reloaded(x):
    """Arguments that are used twice are loaded again instead of saved."""
    out = nl.ndarray((128, 8192), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x[:, i * 8192 : (i + 1) * 8192]) for i in range(7)]
    total = nl.zeros((128, 8192), dtype=nl.float32, buffer=nl.sbuf)
    for _ in range(2):
        for tile in tiles:
            nisa.tensor_tensor(total, total, tile, nl.add)
    nl.store(out, value=total)
    return out


def reloaded_ref(x):
    return x.reshape((128, 7, 8192)).sum(axis=1) * 2.0


# nk: run partial(x=bf16[100,98304]:randn(2))
# nk: expect partial_ref
@nki.jit
def partial(x):
    """Only what has been written of a tile is saved: a part of its partitions and columns."""
    out = nl.ndarray((100, 98304), dtype=x.dtype, buffer=nl.shared_hbm)
    corner = nl.ndarray((100, 1000), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(corner[0:32, 10:500], nl.load(x[0:32, 10:500]))
    big = nl.load(x[:, 0:97728])
    nl.store(out[:, 0:97728], value=big)
    nisa.memset(corner[32:64, 10:500], 0.0)
    nl.store(out[0:32, 10:500], value=corner[0:32, 10:500])
    nl.store(out[:, 97728:98304], value=nl.load(x[:, 97728:98304]))
    return out


def partial_ref(x):
    return x


# nk: run many_sums(a=bf16[128,1536]:randn(2), b=bf16[128,512]:randn(3))
# nk: expect many_sums_ref rtol=1e-2
@nki.jit
def many_sums(a, b):
    """Twelve banks of sums that are all live at once: some move to SBUF, where what reads them finds them."""
    out = nl.ndarray((12, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    sums = []
    for i in range(12):
        total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(total, left[:, i * 128 : (i + 1) * 128], right)
        sums.append(total)
    for i in range(12):
        tile = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(tile, sums[(i + 5) % 12])
        nisa.tensor_tensor(tile, sums[i], tile, nl.add)
        nl.store(out[i], value=tile)
    return out


def many_sums_ref(a, b):
    sums = [a[:, i * 128 : (i + 1) * 128].T @ b for i in range(12)]
    return np.stack([sums[i] + sums[(i + 5) % 12] for i in range(12)])
