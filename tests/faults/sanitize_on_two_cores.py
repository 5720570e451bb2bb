"""Two cores at once: the second one reads the column that its loop has stopped short of."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run totals(x=f32[2,128,8]:randn(0), n=4) grid=nl.nc(2) sanitize
@nki.jit
def totals(x, n):
    out = nl.ndarray((2, 128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    core = nl.program_id(0)
    tile = nl.load(x[core])
    work = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.dynamic_range(n - core):
        nisa.tensor_copy(dst=work.select(1, i), src=tile.select(1, i))
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    for i in nl.dynamic_range(n):
        nisa.tensor_tensor(dst=total, data1=total, data2=work.select(1, i), op=nl.add)  # error: uninitialized-read
    nisa.dma_copy(dst=out[core], src=total)
    return out
