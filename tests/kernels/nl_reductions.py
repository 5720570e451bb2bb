"""Reductions, softmax and normalisation over all free axes and over some."""
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run partial(x=f32[96,5,24]:randn(0))
# nk: expect partial_reference
@nki.jit
def partial(x):
    a = nl.load(x)
    assert nl.sum(a, axis=2).shape == (96, 5) and nl.sum(a, axis=[1, 2], keepdims=True).shape == (96, 1, 1)
    assert nl.max(a, axis=(1, 2)).shape == (96, 1) and nl.var(a, axis=2).shape == (96, 5, 1)
    return (
        stored(nl.var(a, axis=2)),
        stored(nl.softmax(a, axis=-1)),
        stored(nl.softmax(a, axis=(1, 2))),
        stored(nl.mean(a, axis=(1, 2), keepdims=True)),
        stored(nl.all(nl.greater(a, -1.5), axis=2)),
        stored(nl.sum(a, axis=2, dtype=nl.bfloat16)),
    )


def partial_reference(x):
    rows = np.exp(x - x.max(axis=2, keepdims=True))
    planes = np.exp(x - x.max(axis=(1, 2), keepdims=True))
    return (
        x.var(axis=2, keepdims=True),
        rows / rows.sum(axis=2, keepdims=True),
        planes / planes.sum(axis=(1, 2), keepdims=True),
        x.mean(axis=(1, 2), keepdims=True),
        (x > -1.5).all(axis=2),
        x.sum(axis=2),
    )


# nk: run normalised(x=bf16[128,256]:randn(0), w=f32[128,256]:randn(1), row=f32[1,256]:randn(2))
# nk: expect normalised_reference rtol=2e-2
@nki.jit
def normalised(x, w, row):
    a = nl.load(x)
    plain = nl.rms_norm(a, nl.load(w), axis=1, n=256)
    assert plain.dtype == nl.bfloat16
    wide = nl.rms_norm(a, nl.load(row), axis=[1], n=256, epsilon=1e-3, dtype=nl.float32)
    blocks = nl.rms_norm(a.reshape((128, 4, 64)), 1.0, axis=2, n=64)
    return stored(plain), stored(wide), stored(blocks), stored(nl.softmax(a, axis=1, dtype=nl.float32))


def normalised_reference(x, w, row):
    x = x.astype(np.float32)
    blocks = x.reshape(128, 4, 64)
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return (
        x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * w,
        x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-3) * row,
        blocks / np.sqrt((blocks * blocks).mean(axis=2, keepdims=True) + 1e-6),
        shifted / shifted.sum(axis=1, keepdims=True),
    )
