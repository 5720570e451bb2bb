"""Tiles of different shapes: columns and numbers, then NumPy's rules in both dimensions."""
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run free(x=f32[64,6,20]:randn(0), y=f32[64,1,20]:randn(1), z=f32[64,6,1]:randn(2))
# nk: expect free_reference rtol=0
@nki.jit
def free(x, y, z):
    a, b, c = nl.load(x), nl.load(y), nl.load(z)
    return (
        stored(nl.add(a, b)),
        stored(nl.multiply(c, a)),
        stored(nl.subtract(b, c)),
        stored(nl.maximum(a, a[:, 0, 0:1])),
        stored(nl.broadcast_to(b, (64, 6, 20))),
    )


def free_reference(x, y, z):
    return x + y, z * x, y - z, np.maximum(x, x[:, 0:1, 0:1]), np.broadcast_to(y, x.shape)


# nk: run partitions(x=f32[128,700]:randn(0), row=f32[1,700]:randn(1), h=bf16[1,64]:randn(2), i=i32[1,40]:randint(-9999999,9999999,3), b=i8[1,64]:randint(-100,100,4))
# nk: expect partitions_reference rtol=0
@nki.jit
def partitions(x, row, h, i, b):
    a, r = nl.load(x), nl.load(row)
    one = nl.load(x[77:78, 5:6])
    return (
        stored(nl.add(a, r)),
        stored(nl.subtract(r, a)),
        stored(nl.multiply(a, one)),
        stored(nl.multiply(a[:, 0:1], r)),
        stored(nl.broadcast_to(nl.load(h), (96, 64))),
        stored(nl.broadcast_to(nl.load(i), (64, 40))),
        stored(nl.broadcast_to(nl.load(b), (128, 64))),
        stored(nl.add(a, a[32:33, :])),
        stored(nl.broadcast_to(x[3:4, 0:32], (128, 32))),
    )


def partitions_reference(x, row, h, i, b):
    return (
        x + row,
        row - x,
        x * x[77, 5],
        x[:, 0:1] * row,
        np.broadcast_to(h, (96, 64)),
        np.broadcast_to(i, (64, 40)),
        np.broadcast_to(b, (128, 64)),
        x + x[32:33],
        np.broadcast_to(x[3:4, 0:32], (128, 32)),
    )


# nk: run integers(x=i32[128,64]:randint(-2000000000,2000000000,0), c=i32[128,1]:randint(-9,9,1), u=u8[128,64]:randint(0,255,2))
# nk: expect integers_reference rtol=0
@nki.jit
def integers(x, c, u):
    """Sums and products of 32-bit integers are exact, whatever stands beside the tile; bits keep their dtype."""
    a, b, v = nl.load(x), nl.load(c), nl.load(u)
    assert nl.bitwise_and(v, 15).dtype == nl.uint8 and nl.add(v, 1).dtype == nl.int32
    return (
        stored(nl.add(a, 12345)),
        stored(nl.subtract(7, a)),
        stored(nl.multiply(a, b)),
        stored(nl.subtract(b, a)),
        stored(-a),
        stored(nl.bitwise_and(v, 15)),
        stored(nl.bitwise_or(a, b)),
        stored(nl.right_shift(v, 3)),
        stored(~v),
    )


def integers_reference(x, c, u):
    return x + 12345, 7 - x, x * c, c - x, -x, u & 15, x | c, u >> 3, ~u
