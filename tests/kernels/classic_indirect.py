"""Tiles as indices: a row of HBM for each partition."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run gather(x=f32[2,100,48]:randn(0), rows=i32[80]:randint(0,100,1))
# nk: expect gather_reference rtol=0
@nki.jit
def gather(x, rows):
    out = nl.ndarray((80, 48), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(64)[:, None]
    i_f = nl.arange(48)[None, :]
    for i in nl.affine_range(2):
        inside = 64 * i + i_p < 80
        index = nl.load(rows[64 * i + i_p], mask=inside)
        tile = nl.load(x[1, index[i_p, 0], i_f], mask=inside)
        nl.store(out[64 * i + i_p, i_f], value=tile, mask=inside)
    return out


def gather_reference(x, rows):
    return x[1][rows]


# nk: run scatter(x=f32[64,32]:randn(0))
# nk: expect scatter_reference rtol=0
@nki.jit
def scatter(x):
    out = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    zeros = nl.zeros((128, 32), dtype=x.dtype, buffer=nl.sbuf)
    nl.store(out, zeros)
    index = nisa.iota(2 * nl.arange(64)[:, None] + 1, dtype=nl.int32)
    nl.store(out[index, nl.arange(32)[None, :]], value=nl.load(x))
    return out


def scatter_reference(x):
    out = np.zeros((128, 32), dtype=np.float32)
    out[1::2] = x
    return out
