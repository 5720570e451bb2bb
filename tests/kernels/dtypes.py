"""Every element type: loads, casts by each kind of engine, results and promotion of mixed operands."""
import ml_dtypes
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

FLOATS = (nl.float32, nl.tfloat32, nl.bfloat16, nl.float16, nl.float8_e4m3, nl.float8_e5m2, nl.float8_e3m4)
INTS = (nl.int32, nl.uint32, nl.int16, nl.uint16, nl.int8, nl.uint8)


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run to_all(x=f32[16,64]:uniform(-300,300,0))
# nk: expect to_all_reference rtol=0 atol=0
# nk: run to_all(x=bf16[16,64]:randn(1))
# nk: expect to_all_reference rtol=0 atol=0
# nk: run to_all(x=f8e4m3[16,64]:uniform(-240,240,2))
# nk: expect to_all_reference rtol=0 atol=0
# nk: run to_all(x=f8e3m4[16,64]:randn(3))
# nk: expect to_all_reference rtol=0 atol=0
# nk: run to_all(x=i16[16,64]:randint(-40000,40000,4))
# nk: expect to_all_reference rtol=0 atol=0
# nk: run to_all(x=u16[16,64]:randint(0,65535,5))
# nk: expect to_all_reference rtol=0 atol=0
@nki.jit
def to_all(x):
    tile = nl.load(x)
    results = []
    for dtype in FLOATS + INTS:
        cast = nl.ndarray(tile.shape, dtype=dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=cast, src=tile)
        results.append(stored(cast))
    return tuple(results)


def to_all_reference(x):
    # NumPy has no tfloat32: eleven significant bits of a float32, ties to even.
    exact = x.astype(np.float64)
    unit = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(exact), 1e-30))) - 10)
    results = [exact, np.rint(exact / unit) * unit]
    narrow = (
        ml_dtypes.bfloat16,
        np.float16,
        ml_dtypes.float8_e4m3,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e3m4,
    )
    for dtype in narrow:
        results.append(x.astype(np.float32).astype(dtype))
    for dtype in (np.int32, np.uint32, np.int16, np.uint16, np.int8, np.uint8):
        limits = np.iinfo(dtype)
        results.append(np.clip(np.rint(exact), limits.min, limits.max))
    return tuple(results)


# nk: run promoted(a=f8e4m3[16,8]:randn(0), b=f8e5m2[16,8]:randn(1), c=i8[16,8]:randint(-100,100,2))
# nk: expect promoted_reference
@nki.jit
def promoted(a, b, c):
    a, b, c = nl.load(a), nl.load(b), nl.load(c)
    truth = nl.less(c, 0, dtype=nl.bool_)
    short = nl.copy(c, dtype=nl.int16)
    wide = nl.copy(c, dtype=nl.tfloat32)
    assert nl.add(a, b).dtype == nl.bfloat16
    assert nl.add(a, nl.copy(b, dtype=nl.float16)).dtype == nl.float16
    assert nl.add(a, wide).dtype == nl.float32
    assert nl.add(wide, wide).dtype == nl.tfloat32
    assert nl.add(a, c).dtype == nl.float8_e4m3
    assert nl.add(c, nl.copy(c, dtype=nl.uint8)).dtype == nl.int16
    assert nl.add(short, nl.copy(c, dtype=nl.uint16)).dtype == nl.int32
    assert nl.add(truth, nl.copy(c, dtype=nl.uint8)).dtype == nl.uint8
    assert nl.add(nl.copy(c, dtype=nl.uint8), truth).dtype == nl.uint8
    assert nl.add(truth, c).dtype == nl.int16
    assert nl.add(short, 1).dtype == nl.int32
    assert nl.add(a, 1).dtype == nl.float8_e4m3
    assert nl.add(a, 1.5).dtype == nl.float32
    assert nl.add(truth, True).dtype == nl.uint8
    return stored(truth)


def promoted_reference(a, b, c):
    return c < 0
