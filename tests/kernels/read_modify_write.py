"""Transfers that add to what stands at their destination, one fact a kernel."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run scatter_add(x=f32[64,40]:randn(0), rows=i32[64,1]:randint(0,20,1))
# nk: expect scatter_add_reference
@nki.jit
def scatter_add(x, rows):
    """Row `rows[p]` grows by row `p` of the tile, as often as it is named."""
    out = nl.ndarray((24, 40), dtype=x.dtype, buffer=nl.shared_hbm)
    ones = nl.ndarray((24, 40), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    nisa.dma_copy(dst=out, src=ones)
    named = out.vector_select(0, nl.load(rows))
    nisa.dma_compute(dst=named, srcs=[named, nl.load(x)], reduce_op=nl.add, unique_indices=False)
    return out


def scatter_add_reference(x, rows):
    y = np.ones((24, 40), dtype=np.float32)
    for p in range(64):
        y[int(rows[p, 0])] += x[p]
    return y


# nk: run gather_add(x=f32[100,40]:randn(2), y=f32[64,40]:randn(3), rows=i32[64,1]:randint(0,100,4))
# nk: expect gather_add_reference
@nki.jit
def gather_add(x, y, rows):
    """A tile grows by the rows of a tensor, in the dtype of the tile."""
    out = nl.ndarray((64, 40), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 40), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=y)
    nisa.dma_compute(tile, [tile, x.vector_select(0, nl.load(rows))], nl.add)
    nisa.dma_copy(dst=out, src=tile)
    return out


def gather_add_reference(x, y, rows):
    return y.astype(nl.bfloat16).astype(np.float32) + np.stack([x[int(it)] for it in rows[:, 0]])


# nk: run rounds_once_a_row()
# nk: expect rounds_once_a_row_reference rtol=0
@nki.jit
def rounds_once_a_row():
    """Each addition rounds to the destination: 256 + 1 is 256 in bf16, however often."""
    out = nl.ndarray((2, 8), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    start = nl.ndarray((2, 8), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.memset(dst=start, value=256.0)
    nisa.dma_copy(dst=out, src=start)
    ones = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    first = nl.ndarray((16, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=first, value=1)
    named = out.vector_select(0, first)
    nisa.dma_compute(named, [named, ones], nl.add)
    return out


def rounds_once_a_row_reference():
    return np.full((2, 8), 256.0)


# nk: run plain_add(x=f32[64,40]:randn(5), y=f32[64,40]:randn(6))
# nk: expect plain_add_reference
@nki.jit
def plain_add(x, y):
    """Without indices the whole destination grows."""
    out = nl.ndarray((64, 40), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    nisa.dma_compute(out, [out, y], nl.add)
    return out


def plain_add_reference(x, y):
    return x + y
