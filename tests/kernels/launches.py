"""Programs of a grid on one HBM: tiles that do not meet, on one core and on two, with static and dynamic addresses."""

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def doubled_reference(x):
    return x * 2


# nk: run columns(x=f32[128,256]:randn(0)) grid=4
# nk: expect doubled_reference rtol=0
# nk: run columns(x=f32[128,256]:randn(0)) grid=nl.spmd_dim(nl.nc(2),2)
# nk: expect doubled_reference rtol=0
# nk: run columns(x=f32[128,256]:randn(0)) grid=nl.nc(2)
# nk: expect doubled_reference rtol=0
@nki.jit
def columns(x):
    """Columns in turns: every row has bytes of all programs, side by side."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    n = nl.num_programs(0)
    for column in range(nl.program_id(0), x.shape[1], n):
        tile = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, column : column + 1])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out[:, column : column + 1], src=tile)
    return out


# nk: run rows_by_register(x=f32[4,128,64]:randn(1)) grid=nl.nc(2)
# nk: expect doubled_reference rtol=0
@nki.jit
def rows_by_register(x):
    """A loop of the device: which rows it touches is known when it runs, and they are different ones."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first = nl.program_id(0) * 2
    for block in nl.dynamic_range(first, first + 2):
        tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap(pattern=[[64, 128], [1, 64]], scalar_offset=block, indirect_dim=0))
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out.ap(pattern=[[64, 128], [1, 64]], scalar_offset=block, indirect_dim=0), src=tile)
    return out


def own_reference(x):
    return np.concatenate([x + 1, x + 2])


# nk: run own(x=f32[8,8]:randn(2)) grid=2
# nk: expect own_reference rtol=0
# nk: run own(x=f32[8,8]:randn(2)) grid=nl.nc(2)
# nk: expect own_reference rtol=0
@nki.jit
def own(x):
    """A tensor in private HBM is another one in each program."""
    out = nl.ndarray((16, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    program = nl.program_id(0)
    tile = nl.ndarray((8, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=program + 1.0)
    mine = nl.ndarray((8, 8), dtype=x.dtype, buffer=nl.private_hbm)
    nisa.dma_copy(dst=mine, src=tile)
    nisa.dma_copy(dst=out[program * 8 : program * 8 + 8, :], src=mine)
    return out


def swapped_reference(x):
    return np.concatenate([x[64:128], x[0:64]])


# nk: run swapped(x=f32[128,32]:randn(3)) grid=nl.nc(2)
# nk: expect swapped_reference rtol=0
@nki.jit
def swapped(x):
    """Through a shared tensor that is neither argument nor result, with a barrier between writing and reading."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    between = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    program = nl.program_id(0)
    mine = slice(program * 64, program * 64 + 64)
    theirs = slice(64 - program * 64, 128 - program * 64)
    nisa.dma_copy(dst=between[mine, :], src=x[mine, :])
    nisa.core_barrier(between, (0, 1))
    nisa.dma_copy(dst=out[mine, :], src=between[theirs, :])
    return out
