"""Rows of a table in HBM to which others are added, by numbers that an input gives."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


# nk: run add_rows(table=f32[128,64]:randn(1), rows=i32[64,1]:arange, x=f32[64,64]:randn(2))
# nk: expect add_rows_reference
@nki.jit
def add_rows(table, rows, x):
    out = nl.ndarray(table.shape, dtype=table.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(table))
    numbers = nl.load(rows)
    nl.atomic_rmw(out[numbers, nl.arange(64)[None, :]], value=nl.load(x), op=np.add)
    return out


def add_rows_reference(table, rows, x):
    out = table.copy()
    out[rows[:, 0]] += x
    return out
