"""Instructions called with a destination, with the operand forms that their rows allow."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def tile_like(x, dtype=None):
    return nl.ndarray(x.shape, dtype=dtype or x.dtype, buffer=nl.sbuf)


def loaded(x):
    tile = tile_like(x)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run two_ops(x=f32[128,100]:randn(0), y=f32[128,100]:randn(1))
# nk: expect two_ops_reference
@nki.jit
def two_ops(x, y):
    a, b = loaded(x), loaded(y)
    r = [tile_like(x) for _ in range(5)]
    nisa.tensor_scalar(r[0], a, nl.multiply, 2.0, op1=nl.add, operand1=b[:, 0:1])
    nisa.tensor_scalar(r[1], a, op0=nl.subtract, operand0=1.0, reverse0=True)
    nisa.tensor_scalar(r[2], a, op0=nl.add, operand0=3.0, op1=nl.subtract, operand1=b[:, 5:6], reverse1=True)
    nisa.scalar_tensor_tensor(dst=r[3], data=a, op0=nl.multiply, operand0=0.5, op1=nl.add, operand1=b)
    nisa.scalar_tensor_tensor(r[4], a, nl.subtract, b[:, 1:2], nl.multiply, b, reverse0=True)
    return [stored(it) for it in r]


def two_ops_reference(x, y):
    return (
        x * 2 + y[:, 0:1],
        1 - x,
        y[:, 5:6] - (x + 3),
        x * 0.5 + y,
        (y[:, 1:2] - x) * y,
    )


# nk: run activations(x=f32[128,64]:randn(0))
# nk: expect activations_reference
@nki.jit
def activations(x):
    a = loaded(x)
    bias, scale = nl.ndarray((128, 1), nl.float32, nl.sbuf), nl.ndarray((128, 1), nl.float32, nl.sbuf)
    nisa.memset(bias, value=0.25)
    nisa.tensor_copy(scale, a[:, 0:1])
    r = [tile_like(x) for _ in range(4)]
    sums = [nl.ndarray((128, 1), nl.float32, nl.sbuf) for _ in range(2)]
    nisa.activation(dst=r[0], op=nl.exp, data=a, bias=bias, scale=0.5)
    nisa.activation(r[1], nl.tanh, a, scale=scale)
    nisa.activation_reduce(r[2], nl.square, a, reduce_op=nl.add, reduce_res=sums[0])
    nisa.activation(r[3][:, 0:32], nl.copy, a[:, 0:32], reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reset_reduce)
    nisa.activation(
        r[3][:, 32:64], nl.copy, a[:, 32:64], reduce_op=nl.add, reduce_res=sums[1], reduce_cmd=nisa.reduce_cmd.reduce
    )
    return [stored(it) for it in r + sums]


def activations_reference(x):
    return (
        np.exp(x * 0.5 + 0.25),
        np.tanh(x * x[:, 0:1]),
        x * x,
        x,
        (x * x).sum(axis=1, keepdims=True),
        x.sum(axis=1, keepdims=True),
    )


# nk: run selections(x=f32[128,64]:randn(0))
# nk: expect selections_reference rtol=0
@nki.jit
def selections(x):
    a = loaded(x)
    counts = nl.ndarray((128, 64), nl.int32, nl.sbuf)
    nisa.iota(counts, pattern=[[1, 64]], offset=3, channel_multiplier=100)
    triangle = tile_like(x)
    nisa.affine_select(
        triangle, pattern=[[-1, 64]], channel_multiplier=1, on_true_tile=a, on_false_value=-1.0, cmp_op=nl.greater_equal
    )
    mask = tile_like(x, nl.uint8)
    nisa.tensor_scalar(mask, a, op0=nl.greater, operand0=0.0)
    picked, rest = tile_like(x), tile_like(x)
    nisa.memset(picked, 0.0)
    nisa.tensor_copy_predicated(picked, src=a, predicate=mask)
    nisa.tensor_copy(rest, a)
    nisa.tensor_copy_predicated(rest, src=9.0, predicate=mask, reverse_pred=True)
    return stored(counts), stored(triangle), stored(mask), stored(picked), stored(rest)


def selections_reference(x):
    p, f = np.arange(128).reshape(128, 1), np.arange(64).reshape(1, 64)
    return (
        3 + 100 * p + f,
        np.where(p - f >= 0, x, -1),
        x > 0,
        np.where(x > 0, x, 0),
        np.where(x > 0, x, 9),
    )


# nk: run matmuls(a=bf16[128,64]:randn(0), b=bf16[128,256]:randn(1))
# nk: expect matmuls_reference
@nki.jit
def matmuls(a, b):
    st, mv = loaded(a), loaded(b)
    acc = nl.ndarray((64, 256), nl.float32, nl.psum)
    nisa.nc_matmul(acc, st[0:64, :], mv[0:64, :])
    nisa.nc_matmul(acc, st[64:128, :], mv[64:128, :])
    left = nl.ndarray((64, 256), nl.float32, nl.psum)
    nisa.nc_matmul(left[:, 0:128], st, mv[:, 0:128], accumulate=False)
    nisa.nc_matmul(left, st, mv)
    turned = nl.ndarray((64, 128), nl.float32, nl.psum)
    nisa.nc_transpose(turned, st)
    small = nl.ndarray((32, 32), a.dtype, nl.sbuf)
    nisa.nc_transpose(small, st[0:32, 0:32])
    results = []
    for it in (acc, left, turned):
        copy = nl.ndarray(it.shape, nl.float32, nl.sbuf)
        nisa.tensor_copy(copy, it)
        results.append(stored(copy))
    results.append(stored(small))
    return results


def matmuls_reference(a, b):
    a, b = a.astype(np.float32), b.astype(np.float32)
    product = a.T @ b
    doubled = product.copy()
    doubled[:, 0:128] += product[:, 0:128]
    return product, doubled, a.T, a[0:32, 0:32].T


# nk: run reduces(x=f32[64,3,40]:randn(0))
# nk: expect reduces_reference
@nki.jit
def reduces(x):
    a = loaded(x)
    rows = nl.ndarray((64, 3), nl.float32, nl.sbuf)
    nisa.tensor_reduce(rows, op=nl.add, data=a, axis=2)
    top = nl.ndarray((64, 1), nl.float32, nl.sbuf)
    nisa.tensor_reduce(top, nl.maximum, a, axis=(1, 2), negate=True)
    inverse = nl.ndarray((64, 3), nl.float32, nl.sbuf)
    nisa.reciprocal(inverse, rows)
    half = nl.ndarray((64, 3), nl.bfloat16, nl.sbuf)
    nisa.tensor_copy(half, rows, engine=nisa.engine.gpsimd)
    return stored(rows), stored(top), stored(inverse), stored(half)


def reduces_reference(x):
    rows = x.sum(axis=2)
    return rows, -x.max(axis=(1, 2)).reshape(64, 1), 1 / rows, rows


# nk: run moves(x=f32[96,40]:arange, y=i8[16,24]:randint(-100,100,0))
# nk: expect moves_reference rtol=0
@nki.jit
def moves(x, y):
    """Quadrants move to other quadrants; DMA transposes; dtypes change on the way."""
    a = loaded(x)
    b = nl.ndarray((96, 40), nl.float32, nl.sbuf)
    nisa.tensor_copy(b[0:32, :], a[64:96, :])
    nisa.tensor_copy(b[32:64, :], a[0:32, :])
    nisa.tensor_copy(b[64:96, :], a[32:64, :])
    turned = nl.ndarray((24, 16), y.dtype, nl.sbuf)
    nisa.dma_transpose(dst=turned, src=y)
    wide = nl.ndarray((16, 24), nl.float32, nl.sbuf)
    nisa.dma_copy(dst=wide, src=y)
    through = nl.ndarray((16, 24), y.dtype, nl.shared_hbm)
    nisa.dma_copy(dst=through, src=y)
    return stored(b), stored(turned), stored(wide), through


def moves_reference(x, y):
    return np.concatenate([x[64:96], x[0:32], x[32:64]]), y.T, y, y
