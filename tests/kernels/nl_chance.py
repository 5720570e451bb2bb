"""Random numbers: their range and spread, sequences that a seed repeats, dropout; and gathers by index."""
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run uniform(seeds=i32[1,1]:randint(1,1000,0))
# nk: expect uniform_reference rtol=0 atol=0.1
@nki.jit
def uniform(seeds):
    """Means, smallest and largest values of each partition: no value is 1, in any dtype."""
    nl.random_seed(nl.load(seeds))
    wide, half = nl.rand((128, 512), dtype=nl.float32), nl.rand((128, 512), dtype=nl.bfloat16)
    byte = nl.rand((128, 512), nl.float8_e4m3, buffer=nl.psum, name="byte")
    assert half.dtype == nl.bfloat16 and byte.buffer == nl.psum
    results = []
    for it in (wide, half, byte):
        below = nl.all(nl.less(it, 1.0, dtype=nl.float32), axis=1)
        not_below = nl.all(nl.greater_equal(it, 0.0, dtype=nl.float32), axis=1)
        results.append(stored(nl.multiply(nl.logical_and(below, not_below), nl.mean(it, axis=1, dtype=nl.float32))))
        results.append(stored(nl.var(it, axis=1, dtype=nl.float32)))
    return results


def uniform_reference(seeds):
    # A byte has steps of 1/16, so its mean lies half a step lower.
    half, twelfth = np.full((128, 1), 0.5), np.full((128, 1), 1 / 12)
    return half, twelfth, half, twelfth, half, twelfth


# nk: run repeated(x=f32[1,1]:zeros)
# nk: expect repeated_reference rtol=0
@nki.jit
def repeated(x):
    seed = nl.full((1, 1), 42, dtype=nl.int32, buffer=nl.sbuf)
    nl.random_seed(seed)
    first = nl.rand((64, 96), dtype=nl.float32)
    second = nl.rand((64, 96), dtype=nl.float32)
    nl.random_seed(42)
    again = nl.rand((64, 96), dtype=nl.float32, buffer=nl.hbm)
    return stored(nl.subtract(first, nl.load(again))), stored(nl.equal(first, second, dtype=nl.uint8))


def repeated_reference(x):
    return np.zeros((64, 96)), np.zeros((64, 96))


# nk: run dropped(x=bf16[128,512]:uniform(1,2,0), rates=f32[128,1]:uniform(0.2,0.3,1))
# nk: expect dropped_reference rtol=0 atol=0.12
@nki.jit
def dropped(x, rates):
    """Nothing is rescaled; what is kept keeps its bits."""
    nl.random_seed(7)
    a = nl.load(x)
    some, each = nl.dropout(a, 0.25), nl.dropout(a, rate=nl.load(rates), dtype=nl.float32)
    assert some.dtype == nl.bfloat16 and each.dtype == nl.float32
    kept = nl.logical_or(nl.equal(some, a, dtype=nl.float32), nl.equal(some, 0.0, dtype=nl.float32))
    return (
        stored(nl.dropout(a, 0.0)),
        stored(nl.dropout(a, 1)),
        stored(kept),
        stored(nl.mean(nl.not_equal(some, 0.0, dtype=nl.float32), axis=1)),
        stored(nl.mean(nl.not_equal(each, 0.0), axis=1)),
    )


def dropped_reference(x, rates):
    return x, np.zeros((128, 512)), np.ones((128, 512)), np.full((128, 1), 0.75), np.full((128, 1), 0.75)


# nk: run gathered(data=f32[32,3,20]:randn(0), indices=i32[32,10]:randint(0,60,1))
# nk: expect gathered_reference rtol=0
@nki.jit
def gathered(data, indices):
    a, b = nl.load(data), nl.load(indices)
    words = nl.copy(b, dtype=nl.uint32)
    return (
        stored(nl.gather_flattened(a, b)),
        stored(nl.gather_flattened(data=a, indices=words, axis=1)),
        stored(nl.gather_flattened(nl.copy(a, dtype=nl.float16), words, dtype=nl.float32)),
    )


def gathered_reference(data, indices):
    want = np.take_along_axis(data.reshape(32, 60), indices, axis=1)
    return want, want, want.astype(np.float16)


# nk: run spread(x=f32[128,1301]:randn(0), y=bf16[64,2,300]:randn(1))
# nk: expect spread_reference rtol=1e-5
@nki.jit
def spread(x, y):
    """A long row goes through the statistics instructions in pieces of 512."""
    wide = nl.add(nl.load(x), 100.0)
    return stored(nl.var(wide, axis=1)), stored(nl.var(nl.load(y), axis=(1, 2), dtype=nl.float32))


def spread_reference(x, y):
    # The tile holds x + 100 rounded to f32, and the variance is that of the rounded values.
    wide = (x + np.float32(100)).astype(np.float64)
    return wide.var(axis=1, keepdims=True), y.astype(np.float64).var(axis=(1, 2), keepdims=True)
