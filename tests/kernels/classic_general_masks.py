"""Masks that are no rectangles: transfers are split, results are written under a predicate."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run triangle(x=f32[16,16]:randn(0))
# nk: expect triangle_reference rtol=0
@nki.jit
def triangle(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:16, 0:16]
    tile = nl.load(x)
    tile[i_p, i_f] = nl.multiply(tile, 2.0, mask=(i_f >= i_p))
    nl.store(out[i_p, i_f], value=tile)
    return out


def triangle_reference(x):
    return np.where(np.arange(16)[None, :] >= np.arange(16)[:, None], 2 * x, x)


# nk: run flat_end(x=f32[1000]:randn(0))
# nk: expect flat_end_reference rtol=0
@nki.jit
def flat_end(x):
    out = nl.ndarray((16, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:16, 0:64]
    tile = nl.zeros((16, 64), dtype=x.dtype)
    # The last row ends after 40 elements: two transfers.
    tile[i_p, i_f] = nl.load(x[64 * i_p + i_f], mask=(64 * i_p + i_f < 1000))
    nl.store(out, tile)
    return out


def flat_end_reference(x):
    return np.reshape(np.concatenate([x, np.zeros(24, dtype=np.float32)]), (16, 64))


# nk: run selects(x=f32[32,48]:randn(0))
# nk: expect selects_reference rtol=0
@nki.jit
def selects(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:32, 0:48]
    band = (i_f >= i_p) & (i_f < i_p + 8)
    tile = nisa.affine_select(pred=band, on_true_tile=nl.load(x), on_false_value=-1.0)
    nl.store(out, tile)
    return out


def selects_reference(x):
    p, f = np.arange(32)[:, None], np.arange(48)[None, :]
    return np.where((f >= p) & (f < p + 8), x, np.float32(-1))
