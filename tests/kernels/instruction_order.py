# What a kernel may ask of the order of its instructions: depends_on, with_schedule, no_reorder.
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl


# nk: run handles(x=f32[128,64]:randn(0))
# nk: expect doubled_and_more
# nk: snapshot program
# nk: snapshot schedule
@nki.jit
def handles(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    c = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    load = nisa.dma_copy(dst=a, src=x)
    twice = nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0, name="twice")
    more = nisa.activation(dst=c, data=a, op=nl.copy, scale=3.0)
    # The Scalar engine waits for the Vector engine, though they have nothing to do with each other.
    assert more.depends_on(twice, load) == more
    nisa.dma_copy(dst=out[0], src=b)
    nisa.dma_copy(dst=out[1], src=c)
    return out


# The handles come the other way round: the first store waits for the second one, so they change places.
# nk: run backwards(x=f32[128,64]:randn(0))
# nk: expect doubled_and_more
# nk: snapshot program
@nki.jit
def backwards(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    b = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    c = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x)
    nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0)
    nisa.tensor_scalar(dst=c, data=a, op0=nl.multiply, operand0=3.0)
    first = nisa.dma_copy(dst=out[0], src=b, name="first")
    second = nisa.dma_copy(dst=out[1], src=c, name="second")
    first.depends_on(second)
    return out


# nk: run in_order(x=f32[128,64]:randn(0))
# nk: expect doubled_and_more
# nk: snapshot schedule
@nki.jit
def by_name(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in range(2):
        tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x, name=f"load{i}")
        tiles.append(tile)
    nisa.tensor_scalar(dst=tiles[0], data=tiles[0], op0=nl.multiply, operand0=2.0, name="act0")
    nisa.activation(dst=tiles[1], data=tiles[1], op=nl.copy, scale=3.0, name="act1")
    for i in range(2):
        nisa.dma_copy(dst=out[i], src=tiles[i])
    return out


pairs = []
for i in range(1, 2):
    pairs.append((f"act{i}", [f"act{i - 1}", "load0"]))

in_order = by_name.with_schedule(pairs)


def body(tiles, out, i):
    nisa.tensor_scalar(dst=tiles[i], data=tiles[i], op0=nl.multiply, operand0=2.0 + i)
    nisa.dma_copy(dst=out[i], src=tiles[i])


# A region holds what is called in it, too.
# nk: run region(x=f32[128,64]:randn(0))
# nk: expect doubled_and_more
# nk: snapshot program
# nk: snapshot schedule
@nki.jit
def region(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2)]
    for tile in tiles:
        nisa.dma_copy(dst=tile, src=x)
    with nl.no_reorder():
        for i in range(2):
            body(tiles, out, i)
    return out


def doubled_and_more(x):
    return np.stack([x * 2, x * 3])
