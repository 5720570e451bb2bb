"""Two ranks: the second one reads the column that its loop has stopped short of."""

import nki
import nki.collectives as nccl
import nki.isa as nisa
import nki.language as nl


# nk: run totals(x=f32[128,8]:randn(0), n=4) ranks=2 sanitize
@nki.jit
def totals(x, n):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    rank = nccl.rank_id()
    tile = nl.load(x)
    work = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.dynamic_range(n - rank):
        nisa.tensor_copy(dst=work.select(1, i), src=tile.select(1, i))
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    for i in nl.dynamic_range(n):
        nisa.tensor_tensor(dst=total, data1=total, data2=work.select(1, i), op=nl.add)  # error: uninitialized-read
    nisa.dma_copy(dst=out, src=total)
    return out
