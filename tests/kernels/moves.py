"""Elements moved by positions and masks, random numbers, and sums on the way of a transfer."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def loaded(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def sbuf(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


# nk: run shuffles(x=f32[64,20]:randn(0))
# nk: expect shuffles_reference rtol=0
@nki.jit
def shuffles(x):
    a, turned = loaded(x), sbuf((64, 20))
    nisa.nc_stream_shuffle(dst=turned, src=a, shuffle_mask=[31 - lane for lane in range(32)])
    # In place: even lanes keep their rows, odd ones take their neighbour's.
    nisa.nc_stream_shuffle(a, a, [255 if lane % 2 == 0 else lane - 1 for lane in range(32)])
    return stored(turned), stored(a)


def shuffles_reference(x):
    quadrants = x.reshape(2, 32, 20)
    spread = quadrants.copy()
    spread[:, 1::2] = quadrants[:, 0::2]
    return quadrants[:, ::-1].reshape(64, 20), spread.reshape(64, 20)


# nk: run gathers(x=f32[32,50]:randn(0), places=u32[32,10]:randint(0,50,1), rows=u16[32,2]:randint(0,12,2))
# nk: expect gathers_reference rtol=0
@nki.jit
def gathers(x, places, rows):
    a, p, r = loaded(x), loaded(places), loaded(rows)
    own, shared = sbuf((32, 10)), sbuf((32, 32 * 4))
    nisa.nc_n_gather(dst=own, data=a, indices=p)
    # An index counts elements, so that of a row of four is multiplied by four.
    nisa.tensor_scalar(r, r, op0=nl.multiply, operand0=4.0)
    nisa.local_gather(dst=shared, src_buffer=a, index=r, num_elem_per_idx=4)
    few = sbuf((32, 20))
    nisa.local_gather(few, a, r, num_elem_per_idx=1, num_valid_indices=20)
    return stored(own), stored(shared), stored(few)


def gathers_reference(x, places, rows):
    shared, few = np.zeros((32, 128)), np.zeros((32, 20))
    for p in range(32):
        core = p // 16 * 16
        for k in range(32):
            at = int(rows[core + k % 16, k // 16]) * 4
            shared[p, 4 * k : 4 * k + 4] = x[p, at : at + 4]
            if k < 20:
                few[p, k] = x[p, at]
    return np.take_along_axis(x, places.astype(np.int64), axis=1), shared, few


# nk: run random_words(x=f32[128,400]:ones, seed=i32[1,1]:randint(1,1000,0))
# nk: expect random_words_reference rtol=0
@nki.jit
def random_words(x, seed):
    """Equal seeds make equal numbers; a dropout keeps about what it should."""
    a, s = loaded(x), loaded(seed)
    first, second = sbuf((128, 400), nl.uint32), sbuf((128, 400), nl.uint32)
    nisa.set_rng_seed(s)
    nisa.rng(dst=first)
    nisa.set_rng_seed(src_seeds=s)
    nisa.rng(second, engine=nisa.engine.vector)
    same = sbuf((128, 400))
    nisa.tensor_tensor(same, first, second, op=nl.equal)
    all_gone, all_kept, quarter = sbuf((128, 400)), sbuf((128, 400)), sbuf((128, 400))
    nisa.dropout(dst=all_gone, data=a, prob=1.0)
    nisa.dropout(all_kept, a, 0.0)
    nisa.dropout(quarter, a, 0.25)
    kept = sbuf((128, 1))
    nisa.tensor_reduce(kept, op=nl.add, data=quarter, axis=1)
    # More than 240 and fewer than 360 of 400 in every row.
    few, many = sbuf((128, 1)), sbuf((128, 1))
    nisa.tensor_scalar(few, kept, op0=nl.greater, operand0=240.0)
    nisa.tensor_scalar(many, kept, op0=nl.less, operand0=360.0)
    return stored(same), stored(all_gone), stored(all_kept), stored(few), stored(many)


def random_words_reference(x, seed):
    column = np.ones((128, 1))
    return x, 0 * x, x, column, column


# nk: run sums(a=f32[64,48]:randn(0), b=bf16[64,48]:randn(1), c=i32[64,48]:randint(-9,9,2))
# nk: expect sums_reference
@nki.jit
def sums(a, b, c):
    tile = sbuf((64, 48))
    nisa.dma_compute(dst=tile, srcs=[a, b, c], reduce_op=nl.add)
    many = nl.ndarray((64, 48), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    nisa.dma_compute(many, [a, tile] + [b, c] * 7, nl.add, scales=[1.0] * 16)
    return stored(tile), many


def sums_reference(a, b, c):
    total = a + b.astype(np.float32) + c
    return total, a + total + 7 * (b.astype(np.float32) + c)
