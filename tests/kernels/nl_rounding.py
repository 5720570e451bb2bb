"""Rounding to integers and trigonometry, which are sequences of instructions."""
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run rounding(x=f32[128,64]:uniform(-5,5,0), big=f32[128,64]:uniform(-9e9,9e9,1), h=bf16[128,64]:uniform(-300,300,2))
# nk: expect rounding_reference rtol=0
@nki.jit
def rounding(x, big, h):
    a, b, c = nl.load(x), nl.load(big), nl.load(h)
    halves = nl.multiply(nl.floor(nl.multiply(a, 2.0)), 0.5)
    assert nl.floor(c).dtype == nl.bfloat16 and nl.trunc(a, dtype=nl.int32).dtype == nl.int32
    return (
        stored(nl.floor(a)),
        stored(nl.ceil(a)),
        stored(nl.trunc(a)),
        stored(nl.floor(halves)),
        stored(nl.ceil(halves)),
        stored(nl.floor(b)),
        stored(nl.trunc(b)),
        stored(nl.ceil(c)),
        stored(nl.trunc(a, dtype=nl.int32)),
        stored(nl.floor(nl.divide(1.0, nl.multiply(a, 0.0)))),
    )


def rounding_reference(x, big, h):
    halves = np.floor(x * 2) * np.float32(0.5)
    return (
        np.floor(x),
        np.ceil(x),
        np.trunc(x),
        np.floor(halves),
        np.ceil(halves),
        np.floor(big),
        np.trunc(big),
        np.ceil(h),
        np.trunc(x),
        np.float32(1) / (x * np.float32(0)),
    )


# nk: run trigonometry(x=f32[128,512]:uniform(-300,300,0), y=f32[128,64]:uniform(-1.4,1.4,1), k=i32[128,64]:randint(-50,50,2))
# nk: expect trigonometry_reference rtol=0 atol=1e-6
@nki.jit
def trigonometry(x, y, k):
    a, b, c = nl.load(x), nl.load(y), nl.load(k)
    return stored(nl.sin(a)), stored(nl.cos(a)), stored(nl.cos(c, dtype=nl.float32)), stored(nl.sin(b))


def trigonometry_reference(x, y, k):
    x, y, k = x.astype(np.float64), y.astype(np.float64), k.astype(np.float64)
    return np.sin(x), np.cos(x), np.cos(k), np.sin(y)


# nk: run tangent(x=f32[128,64]:uniform(-1.5,1.5,0), y=f32[128,64]:uniform(99.5,101.5,1))
# nk: expect tangent_reference rtol=2e-5
@nki.jit
def tangent(x, y):
    return stored(nl.tan(nl.load(x))), stored(nl.tan(nl.load(y)))


def tangent_reference(x, y):
    return np.tan(x.astype(np.float64)), np.tan(y.astype(np.float64))


# nk: run choice(x=f32[128,64]:randn(0), y=f32[128,64]:randn(1))
# nk: expect choice_reference rtol=0
@nki.jit
def choice(x, y):
    a, b = nl.load(x), nl.load(y)
    small = nl.multiply(nl.greater(a, 0), 0.25)
    return (
        stored(nl.where(nl.greater(a, b), a, b)),
        stored(nl.where(small, a, -1.0)),
        stored(nl.where(nl.less(a, b), 1, b)),
        stored(nl.where(nl.greater(a, 0, dtype=nl.uint8), a, b, dtype=nl.bfloat16)),
        stored(nl.where(nl.greater(a, 0), a[:, 0:1], b)),
    )


def choice_reference(x, y):
    import ml_dtypes

    return (
        np.where(x > y, x, y),
        np.where(x > 0, x, -1),
        np.where(x < y, 1, y),
        np.where(x > 0, x, y).astype(ml_dtypes.bfloat16),
        np.where(x > 0, x[:, 0:1], y),
    )
