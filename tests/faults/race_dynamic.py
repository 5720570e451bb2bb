"""Rows that are known only at run time: both programs write the block that an index tile names."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run marked(index=i32[1,1]:ones, x=f32[2,128,16]:randn(0)) grid=2
@nki.jit
def marked(index, x):
    out = nl.ndarray((4, 128, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    where = nisa.register_alloc(index)
    tile = nl.ndarray((128, 16), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[nl.program_id(0), :, :])
    block = out.ap(pattern=[[16, 128], [1, 16]], scalar_offset=where, indirect_dim=0)
    nisa.dma_copy(dst=block, src=tile)  # error: data-race
    return out
