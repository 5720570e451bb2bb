"""A program reads what the other one writes, and there is no barrier between."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run swapped(x=f32[128,32]:randn(0)) grid=nl.nc(2)
@nki.jit
def swapped(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    between = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    program = nl.program_id(0)
    nisa.dma_copy(dst=between[program * 64 : program * 64 + 64, :], src=x[program * 64 : program * 64 + 64, :])  # error: data-race
    nisa.dma_copy(dst=out[program * 64 : program * 64 + 64, :], src=between[64 - program * 64 : 128 - program * 64, :])  # error: data-race
    return out
