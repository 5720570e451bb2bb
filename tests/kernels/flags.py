"""Flags of a run: tiles that fit only when some move to HBM, and launches that are watched and have nothing to hide."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run all_at_once(x=f32[128,65536]:randn(0)) spill place-seed=3
# nk: expect doubled
@nki.jit
def all_at_once(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.multiply(nl.load(x[:, i * 8192 : (i + 1) * 8192]), 2.0) for i in range(8)]
    for i in range(8):
        nl.store(out[:, i * 8192 : (i + 1) * 8192], value=tiles[i])
    return out


# nk: run by_columns(x=f32[4,128,8]:randn(1), n=8) grid=4 cores=2 sanitize trap=nan,inf,range
# nk: expect doubled
# nk: run by_columns(x=f32[2,128,8]:randn(2), n=8) grid=nl.nc(2) sanitize trap=nan,inf,range
# nk: expect doubled
@nki.jit
def by_columns(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    tile = nl.load(x[i])
    work = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.dynamic_range(n):
        nisa.tensor_tensor(dst=work.select(1, j), data1=tile.select(1, j), data2=tile.select(1, j), op=nl.add)
    nl.store(out[i], value=work)
    return out


def doubled(x, n=None):
    return 2.0 * x
