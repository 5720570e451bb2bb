"""Tiles in PSUM that are zero until something is written: no memset where a matmul comes first."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.copy(tile))
    return out


# nk: run accumulated(a=f32[256,64]:randn(0), b=f32[256,128]:randn(1))
# nk: expect accumulated_reference
# nk: snapshot program
@nki.jit
def accumulated(a, b):
    """The first of a group overwrites, also under accumulate=True; what is never read is never filled."""
    acc = nl.zeros((64, 128), dtype=nl.float32, buffer=nl.psum)
    for k in range(2):
        x, y = nl.load(a[128 * k : 128 * k + 128, :]), nl.load(b[128 * k : 128 * k + 128, :])
        nisa.nc_matmul(acc, x, y, accumulate=True)
    return stored(acc)


def accumulated_reference(a, b):
    return a.T @ b


# nk: run overlapping(image=f32[64,40]:randn(0), filters=f32[3,64,32]:randn(1))
# nk: expect overlapping_reference
@nki.jit
def overlapping(image, filters):
    """A convolution that adds shifted products: each writes another range of the row, so words begin at different times."""
    acc = nl.zeros((32, 44), dtype=nl.float32, buffer=nl.psum)
    row = nl.load(image)
    for tap in range(3):
        nisa.nc_matmul(acc[:, 2 * tap : 2 * tap + 40], nl.load(filters[tap]), row, accumulate=True)
    return stored(acc)


def overlapping_reference(image, filters):
    out = np.zeros((32, 44), dtype=np.float32)
    for tap in range(3):
        out[:, 2 * tap : 2 * tap + 40] += filters[tap].T @ image
    return out


# nk: run read_first(a=f32[128,64]:randn(0), b=f32[128,128]:randn(1))
# nk: expect read_first_reference
@nki.jit
def read_first(a, b):
    """A read before any matmul sees zeros; the matmul after it still begins the words anew."""
    acc = nl.zeros((64, 128), dtype=nl.float32, buffer=nl.psum)
    before = stored(acc)
    nisa.nc_matmul(acc[:, 0:96], nl.load(a), nl.load(b[:, 0:96]))
    partly = stored(acc)
    nisa.nc_matmul(acc, nl.load(a), nl.load(b))
    return before, partly, stored(acc)


def read_first_reference(a, b):
    product = a.T @ b
    partly = product.copy()
    partly[:, 96:128] = 0
    return np.zeros_like(product), partly, product + partly


# nk: run other_writers(x=f32[128,64]:randn(0))
# nk: expect other_writers_reference rtol=0
@nki.jit
def other_writers(x):
    total = nl.zeros((128, 64), dtype=nl.float32, buffer=nl.psum)
    copied = nl.zeros((128, 64), dtype=nl.bfloat16, buffer=nl.psum)
    tile = nl.load(x)
    for _ in range(3):
        nisa.tensor_tensor(total, total, tile, op=nl.add)
    nisa.tensor_copy(copied[:, 0:32], tile[:, 0:32])
    return stored(total), stored(copied)


def other_writers_reference(x):
    import ml_dtypes

    half = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    half[:, 32:64] = 0
    return (x + x) + x, half


# nk: run in_a_device_loop(x=f32[64,32]:randn(0), a=f32[64,32]:randn(1))
# nk: expect in_a_device_loop_reference
@nki.jit
def in_a_device_loop(x, a):
    """The zeros of a tile that is made in a loop are there in each iteration."""
    kept = nl.zeros((64, 32), dtype=nl.float32, buffer=nl.psum)
    tile, factor = nl.load(x), nl.load(a)
    total = nl.zeros((64, 32), dtype=nl.float32, buffer=nl.sbuf)

    def body(_):
        fresh = nl.zeros((64, 32), dtype=nl.float32, buffer=nl.psum)
        nisa.tensor_tensor(fresh, fresh, tile, op=nl.add)
        product = nl.zeros((32, 32), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(product, factor, tile, accumulate=True)
        nisa.tensor_tensor(total, total, fresh, op=nl.add)
        nisa.tensor_tensor(total[0:32, :], total[0:32, :], product, op=nl.add)

    nl.fori_loop(0, 3, body)
    return stored(kept), stored(total)


def in_a_device_loop_reference(x, a):
    total = 3 * x
    total[0:32, :] += 3 * (a.T @ x)
    return np.zeros_like(x), total
