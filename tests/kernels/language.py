"""Functions of nki.language, with their default dtypes and promotion."""
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run arithmetic(x=f32[128,64]:randn(0), y=f32[128,64]:randn(1))
# nk: expect arithmetic_reference
@nki.jit
def arithmetic(x, y):
    a, b = nl.load(x), nl.load(y)
    column = b[:, 0:1]
    return (
        stored(nl.add(a, b)),
        stored(nl.subtract(1.0, a)),
        stored(nl.multiply(a, column)),
        stored(nl.subtract(column, a)),
        stored(nl.maximum(a, 0.5)),
        stored(nl.minimum(a, b)),
        stored(nl.negative(a)),
        stored(nl.abs(a)),
        stored(nl.reciprocal(b)),
        stored(nl.square(a)),
    )


def arithmetic_reference(x, y):
    column = y[:, 0:1]
    return (x + y, 1 - x, x * column, column - x, np.maximum(x, 0.5), np.minimum(x, y), -x, np.abs(x), 1 / y, x * x)


# nk: run comparisons(x=f32[128,64]:randn(0), y=f32[128,64]:randn(1))
# nk: expect comparisons_reference rtol=0
@nki.jit
def comparisons(x, y):
    a, b = nl.load(x), nl.load(y)
    less = nl.less(a, b, dtype=nl.uint8)
    assert less.dtype == nl.uint8 and nl.greater(a, 0).dtype == nl.float32
    return (
        stored(less),
        stored(nl.greater_equal(a, 0)),
        stored(nl.logical_and(nl.less(a, 0), nl.less(b, 0))),
        stored(nl.not_equal(a, a)),
        stored(nl.where(nl.greater(a, b), a, b)),
        stored(nl.where(nl.greater(a, 0), a, 0.0)),
    )


def comparisons_reference(x, y):
    return x < y, x >= 0, (x < 0) & (y < 0), x != x, np.maximum(x, y), np.maximum(x, 0)


# nk: run functions(x=f32[128,64]:uniform(0.1,3,0))
# nk: expect functions_reference
@nki.jit
def functions(x):
    a = nl.load(x)
    return (
        stored(nl.exp(a)),
        stored(nl.log(a)),
        stored(nl.sqrt(a)),
        stored(nl.rsqrt(a)),
        stored(nl.tanh(a)),
        stored(nl.sigmoid(a)),
        stored(nl.silu(a)),
        stored(nl.relu(nl.subtract(a, 1.0))),
        stored(nl.softplus(a)),
        stored(nl.sign(nl.subtract(a, 1.0))),
        stored(nl.gelu_apprx_tanh(a)),
        stored(nl.arctan(nl.multiply(a, 0.4))),
    )


def functions_reference(x):
    sigmoid = 1 / (1 + np.exp(-x))
    tanh = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return (
        np.exp(x),
        np.log(x),
        np.sqrt(x),
        1 / np.sqrt(x),
        np.tanh(x),
        sigmoid,
        x * sigmoid,
        np.maximum(x - 1, 0),
        np.log1p(np.exp(x)),
        np.sign(x - 1),
        0.5 * x * (1 + tanh),
        np.arctan(0.4 * x),
    )


# nk: run reductions(x=f32[128,4,32]:randn(0))
# nk: expect reductions_reference
@nki.jit
def reductions(x):
    a = nl.load(x)
    total = nl.sum(a, axis=[1, 2])
    assert total.shape == (128, 1)
    return (
        stored(total),
        stored(nl.sum(a, axis=2)),
        stored(nl.max(a, axis=-1, keepdims=True)),
        stored(nl.min(a, axis=[2])),
        stored(nl.mean(a, axis=2)),
        stored(nl.prod(nl.add(nl.multiply(a, 0.01), 1.0), axis=2)),
        stored(nl.var(a.reshape((128, 128)), axis=1)),
        stored(nl.softmax(a.reshape((128, 128)), axis=1)),
    )


def reductions_reference(x):
    flat = x.reshape(128, 128)
    shifted = np.exp(flat - flat.max(axis=1, keepdims=True))
    return (
        x.sum(axis=(1, 2)).reshape(128, 1),
        x.sum(axis=2),
        x.max(axis=2, keepdims=True),
        x.min(axis=2),
        x.mean(axis=2),
        (x * 0.01 + 1).prod(axis=2),
        flat.var(axis=1, keepdims=True),
        shifted / shifted.sum(axis=1, keepdims=True),
    )


# nk: run integers(x=i32[128,64]:randint(-1000000,1000000,0), y=i32[128,64]:randint(0,8,1))
# nk: expect integers_reference rtol=0
@nki.jit
def integers(x, y):
    a, b = nl.load(x), nl.load(y)
    return (
        stored(nl.add(a, b)),
        stored(nl.multiply(a, b)),
        stored(nl.bitwise_and(a, 255)),
        stored(nl.bitwise_xor(a, b)),
        stored(nl.left_shift(b, 3)),
        stored(nl.invert(a)),
    )


def integers_reference(x, y):
    return x + y, x * y, x & 255, x ^ y, y << 3, ~x


# nk: run promotion(x=bf16[128,64]:randn(0), y=f16[128,64]:randn(1), z=i8[128,64]:randint(-100,100,2))
# nk: expect promotion_reference rtol=1e-2
@nki.jit
def promotion(x, y, z):
    a, b, c = nl.load(x), nl.load(y), nl.load(z)
    assert nl.add(a, b).dtype == nl.float32 and nl.add(a, c).dtype == nl.bfloat16 and nl.add(a, 1.5).dtype == nl.float32
    wide = nl.load(x, dtype=nl.float32)
    assert wide.dtype == nl.float32 and nl.copy(wide, dtype=nl.float16).dtype == nl.float16
    return stored(nl.add(a, b)), stored(nl.multiply(a, c)), stored(nl.copy(c, dtype=nl.float32)), stored(wide)


def promotion_reference(x, y, z):
    x, y, z = (it.astype(np.float32) for it in (x, y, z))
    return x + y, x * z, z, x


# nk: run products(x=f32[128,64]:randn(0), y=f32[128,256]:randn(1), w=f32[64,128]:randn(2))
# nk: expect products_reference
@nki.jit
def products(x, y, w):
    a, b, c = nl.load(x), nl.load(y), nl.load(w)
    return (
        stored(nl.copy(nl.matmul(a, b, transpose_x=True))),
        stored(nl.copy(nl.matmul(c, b))),
        stored(nl.copy(nl.transpose(a))),
        stored(nl.load_transpose2d(x)),
    )


def products_reference(x, y, w):
    return x.T @ y, w @ y, x.T, x.T


# nk: run creation(x=f32[128,64]:randn(0))
# nk: expect creation_reference rtol=0
@nki.jit
def creation(x):
    zeros = nl.zeros((128, 8), dtype=nl.float32)
    ones = nl.ones((128, 8), dtype=nl.bfloat16, buffer=nl.sbuf)
    sevens = nl.full((128, 8), 7, dtype=nl.int32)
    like = nl.zeros_like(nl.load(x))
    return stored(zeros), stored(ones), stored(sevens), stored(like)


def creation_reference(x):
    shape = (128, 8)
    return np.zeros(shape), np.ones(shape), np.full(shape, 7), np.zeros_like(x)
