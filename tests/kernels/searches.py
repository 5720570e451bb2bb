"""Rows: their eight largest values, positions and replacements, runs, statistics, sums over partitions."""
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


# nk: run top16(x=f32[128,200]:randn(0))
# nk: expect top16_reference rtol=0
@nki.jit
def top16(x):
    """The sixteen largest of each row and their positions: find eight, take them out, find eight more."""
    a, rest = loaded(x), sbuf((128, 200))
    values, places = sbuf((128, 16)), sbuf((128, 16), nl.uint32)
    nisa.max8(dst=values[:, 0:8], src=a)
    nisa.nc_find_index8(dst=places[:, 0:8], data=a, vals=values[:, 0:8])
    nisa.nc_match_replace8(dst=rest, data=a, vals=values[:, 0:8], imm=-1e30)
    nisa.max8(dst=values[:, 8:16], src=rest)
    nisa.nc_find_index8(dst=places[:, 8:16], data=rest, vals=values[:, 8:16])
    return stored(values), stored(places)


def top16_reference(x):
    places = np.argsort(-x, axis=1)[:, 0:16]
    return np.take_along_axis(x, places, axis=1), places


# nk: run statistics(x=f32[128,3,100]:randn(0))
# nk: expect statistics_reference rtol=1e-3 atol=1e-4
@nki.jit
def statistics(x):
    a = loaded(x)
    triples, result = sbuf((128, 3, 6)), sbuf((128, 2))
    for idx in range(3):
        nisa.bn_stats(dst=triples[:, idx, :], data=a[:, idx, :])
    nisa.bn_aggr(dst=result, data=triples)
    return stored(triples), stored(result)


def statistics_reference(x):
    even, odd = x[:, :, 0::2], x[:, :, 1::2]
    triples = np.zeros((128, 3, 6))
    for first, half in [(0, even), (3, odd)]:
        triples[:, :, first] = 50
        triples[:, :, first + 1] = half.mean(axis=2)
        triples[:, :, first + 2] = 50 * half.var(axis=2)
    flat = x.reshape(128, 300)
    return triples, np.stack([flat.mean(axis=1), flat.var(axis=1)], axis=1)


# nk: run partitions(x=f32[100,40]:randn(0), y=i32[64,40]:randint(0,1000000,1))
# nk: expect partitions_reference rtol=1e-3
@nki.jit
def partitions(x, y):
    a, b = loaded(x), loaded(y)
    results = [sbuf((1, 40)) for _ in range(3)] + [sbuf((1, 40), nl.int32) for _ in range(2)]
    nisa.tensor_partition_reduce(dst=results[0], op=nl.add, data=a)
    nisa.tensor_partition_reduce(dst=results[1], op=nl.average, data=a)
    nisa.tensor_partition_reduce(dst=results[2], op=nl.maximum, data=a)
    nisa.tensor_partition_reduce(dst=results[3], op=nl.bitwise_or, data=b)
    nisa.tensor_partition_reduce(dst=results[4], op=nl.bitwise_and, data=b)
    return [stored(it) for it in results]


def partitions_reference(x, y):
    either, both = y[0], y[0]
    for row in range(1, 64):
        either, both = either | y[row], both & y[row]
    return (
        x.sum(axis=0).reshape(1, 40),
        x.mean(axis=0).reshape(1, 40),
        x.max(axis=0).reshape(1, 40),
        either.reshape(1, 40),
        both.reshape(1, 40),
    )


# nk: run segments(ids=f32[1,12]:randint(0,3,4))
# nk: expect segments_reference rtol=0
@nki.jit
def segments(ids):
    bounds = sbuf((1, 2, 12))
    nisa.sequence_bounds(dst=bounds, segment_ids=loaded(ids))
    return stored(bounds)


def segments_reference(ids):
    row, bounds = ids[0], np.zeros((1, 2, 12))
    for idx in range(12):
        first, end = idx, idx + 1
        while first > 0 and row[first - 1] == row[idx]:
            first = first - 1
        while end < 12 and row[end] == row[idx]:
            end = end + 1
        bounds[0, 0, idx] = 12 if row[idx] == 0 else first
        bounds[0, 1, idx] = -1 if row[idx] == 0 else end
    return bounds
