"""Default dtypes of results: the promotion table in both orders, and the rule of each family of functions."""
import nki
import nki.language as nl
import numpy as np

# Two tiles, and what a sum of them is.
PAIRS = (
    (nl.float32, nl.int8, nl.float32),
    (nl.bfloat16, nl.int32, nl.bfloat16),
    (nl.float16, nl.uint8, nl.float16),
    (nl.float8_e4m3, nl.int32, nl.float8_e4m3),
    (nl.float32, nl.bfloat16, nl.float32),
    (nl.float32, nl.float16, nl.float32),
    (nl.float16, nl.bfloat16, nl.float32),
    (nl.float8_e4m3, nl.float16, nl.float16),
    (nl.float8_e5m2, nl.bfloat16, nl.bfloat16),
    (nl.float8_e4m3, nl.float8_e5m2, nl.bfloat16),
    (nl.int8, nl.int16, nl.int16),
    (nl.uint8, nl.uint32, nl.uint32),
    (nl.int8, nl.uint8, nl.int16),
    (nl.int8, nl.uint16, nl.int32),
    (nl.int32, nl.uint16, nl.int32),
    (nl.int32, nl.uint32, nl.float32),
)

# A tile, a number, and what a sum of them is.
NUMBERS = (
    (nl.bfloat16, 1, nl.bfloat16),
    (nl.bfloat16, 1.5, nl.float32),
    (nl.float16, True, nl.float16),
    (nl.float32, 2, nl.float32),
    (nl.int8, 1, nl.int32),
    (nl.uint8, True, nl.uint8),
    (nl.int16, 0.5, nl.float32),
    (nl.uint32, 1, nl.float32),
)


def tile(dtype):
    return nl.ones((4, 8), dtype=dtype)


def stored(value):
    out = nl.ndarray(value.shape, dtype=value.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=value)
    return out


# nk: run promotion(x=f32[4,8]:randn(0))
# nk: expect promotion_reference rtol=0
@nki.jit
def promotion(x):
    results = []
    for left, right, want in PAIRS:
        a, b = tile(left), tile(right)
        assert nl.add(a, b).dtype == want and nl.add(b, a).dtype == want, f"{left} {right}"
        assert nl.maximum(a, b, dtype=nl.bfloat16).dtype == nl.bfloat16
        results.append(stored(nl.add(a, b, dtype=nl.float32)))
    for dtype, number, want in NUMBERS:
        a = tile(dtype)
        assert (a + number).dtype == want and (number * a).dtype == want, f"{dtype} {number}"
        results.append(stored(nl.add(a, number, dtype=nl.float32)))
    return results


def promotion_reference(x):
    sums = [np.full((4, 8), 2)] * len(PAIRS)
    return tuple(sums + [np.full((4, 8), 1 + number) for _, number, _ in NUMBERS])


# nk: run families(x=bf16[4,8]:uniform(0.5,2,0), i=i16[4,8]:randint(1,100,1))
# nk: expect families_reference rtol=0
@nki.jit
def families(x, i):
    a, b = nl.load(x), nl.load(i)
    # Functions of one tile keep its dtype.
    for function in (nl.exp, nl.sqrt, nl.rsqrt, nl.abs, nl.negative, nl.reciprocal, nl.sin, nl.floor, nl.square, nl.gelu):
        assert function(a).dtype == nl.bfloat16 and function(a, dtype=nl.float32).dtype == nl.float32
    assert nl.negative(b).dtype == nl.int16 and nl.invert(b).dtype == nl.int16 and nl.abs(b).dtype == nl.int16
    # Comparisons and logical operators give the dtype of the tiles, whatever number stands beside them.
    assert nl.greater(a, 1.0).dtype == nl.bfloat16 and (b < 7).dtype == nl.int16 and nl.equal(a, a).dtype == nl.bfloat16
    assert nl.less_equal(b, 0.5).dtype == nl.int16 and nl.logical_and(b, b).dtype == nl.int16
    assert nl.equal(a, 1.0, dtype=nl.uint8).dtype == nl.uint8 and nl.not_equal(a, b).dtype == nl.bfloat16
    # Bits keep their width; a quotient of integers is a float; reductions keep the dtype.
    assert nl.bitwise_or(b, 1).dtype == nl.int16 and nl.left_shift(b, 2).dtype == nl.int16
    assert (b / b).dtype == nl.float32 and (a / 2.0).dtype == nl.float32 and nl.mod(b, 3).dtype == nl.int32
    for function in (nl.sum, nl.max, nl.min, nl.prod, nl.mean, nl.var, nl.all):
        assert function(a, axis=1).dtype == nl.bfloat16 and function(a, axis=1, dtype=nl.float32).dtype == nl.float32
    assert nl.softmax(a).dtype == nl.bfloat16 and nl.where(nl.greater(a, 1.0), a, 0.0).dtype == nl.bfloat16
    assert nl.load(x, dtype=nl.float32).dtype == nl.float32 and nl.copy(a).dtype == nl.bfloat16
    assert nl.matmul(a, nl.ones((8, 4), dtype=nl.bfloat16)).dtype == nl.float32
    assert nl.finfo(nl.bfloat16).max > 3e38 and nl.fp32.min < -3e38 and nl.constants.sizeinbytes(nl.bfloat16) == 2
    return stored(nl.greater(b, 50)), stored(nl.abs(nl.negative(b)))


def families_reference(x, i):
    return i > 50, i
