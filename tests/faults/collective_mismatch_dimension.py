"""One rank gathers along partitions, the other along columns: as many bytes, but not the same ones."""

import nki
import nki.collectives as nccl
import nki.isa as nisa
import nki.language as nl


# nk: run confused(x=f32[2,8]:randn(0)) ranks=2
@nki.jit
def confused(x):
    out = nl.ndarray((2, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    if nccl.rank_id() == 0:
        wide = nl.ndarray((2, 16), dtype=x.dtype, buffer=nl.sbuf)
        nccl.all_gather([tile], [wide], [[0, 1]], 1)  # error: collective-mismatch
        nl.store(out, value=wide)
    else:
        tall = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.sbuf)
        nccl.all_gather([tile], [tall], [[0, 1]], 0)
        nisa.dma_copy(dst=out, src=tall)
    return out
