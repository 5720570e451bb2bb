"""A shared tensor of which no program writes the second half."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run half(x=f32[64,32]:randn(0)) grid=2
@nki.jit
def half(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    between = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    program = nl.program_id(0)
    mine = slice(program * 32, program * 32 + 32)
    nisa.dma_copy(dst=between[mine, :], src=x[mine, :])
    nisa.dma_copy(dst=out[mine, :], src=between[64 + program * 32 : 96 + program * 32, :])  # error: uninitialized-read
    return out
