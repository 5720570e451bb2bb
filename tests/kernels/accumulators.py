"""The Vector engine's accumulator: reductions beside a result, running reductions, recurrences, selections."""
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


def tile_like(x, dtype=None):
    return nl.ndarray(x.shape, dtype=dtype or x.dtype, buffer=nl.sbuf)


def column():
    return nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)


# nk: run row_reductions(x=f32[128,60]:randn(0), y=f32[128,40]:randn(1))
# nk: expect row_reductions_reference
@nki.jit
def row_reductions(x, y):
    """One sum over two tiles, one that starts from a column, a maximum that is negated, none read out."""
    a, b = loaded(x), loaded(y)
    r = [tile_like(x) for _ in range(4)]
    s = [column() for _ in range(4)]
    nisa.tensor_scalar_reduce(r[0], a, op0=nl.multiply, operand0=2.0, reduce_op=nl.add)
    nisa.tensor_scalar_reduce(
        dst=tile_like(y), data=b, op0=nl.add, operand0=b[:, 0:1], reduce_op=nl.add, reduce_res=s[0],
        reduce_cmd=nisa.reduce_cmd.reduce,
    )
    nisa.tensor_scalar_reduce(
        dst=r[1], data=a, op0=nl.subtract, operand0=1.0, reduce_op=nl.add, reduce_res=s[1],
        reduce_cmd=nisa.reduce_cmd.load_reduce, reduce_init=a[:, 5:6],
    )
    nisa.tensor_scalar_reduce(
        dst=r[2], data=a, op0=nl.abs, operand0=None, reduce_op=nl.maximum, reduce_res=s[2], reduce_res_negate=True
    )
    nisa.tensor_scalar_reduce(r[3], a, nl.maximum, 0.5, nl.minimum, s[3])
    return [stored(it) for it in r + s]


def row_reductions_reference(x, y):
    total = (2 * x).sum(axis=1) + (y + y[:, 0:1]).sum(axis=1)
    return (
        2 * x,
        x - 1,
        np.abs(x),
        np.maximum(x, 0.5),
        total.reshape(128, 1),
        ((x - 1).sum(axis=1) + x[:, 5]).reshape(128, 1),
        -np.abs(x).max(axis=1).reshape(128, 1),
        np.maximum(x, 0.5).min(axis=1).reshape(128, 1),
    )


# nk: run running(x=f32[128,30]:randn(0))
# nk: expect running_reference rtol=1e-3
@nki.jit
def running(x):
    """A prefix sum in two pieces, a running maximum, an alternating difference."""
    a = loaded(x)
    sums, top, turns = tile_like(x), tile_like(x), tile_like(x)
    nisa.tensor_scalar_cumulative(sums[:, 0:10], a[:, 0:10], op0=nl.multiply, op1=nl.add, imm0=3.0)
    nisa.tensor_scalar_cumulative(
        sums[:, 10:30], a[:, 10:30], nl.multiply, nl.add, 3.0, reduce_cmd=nisa.reduce_cmd.reduce
    )
    nisa.tensor_scalar_cumulative(
        top, a, nl.add, nl.maximum, a[:, 0:1], imm1=0.5, reduce_cmd=nisa.reduce_cmd.load_reduce
    )
    nisa.tensor_scalar_cumulative(turns, a, op0=nl.multiply, op1=nl.subtract, imm0=1.0)
    return stored(sums), stored(top), stored(turns)


def running_reference(x):
    top = np.maximum(np.maximum.accumulate(x + x[:, 0:1], axis=1), 0.5)
    signs = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    # The new term is the left operand: V = term - V.
    turns = signs * np.cumsum(signs * x, axis=1)
    return np.cumsum(3 * x, axis=1), top, turns


# nk: run recurrences(decay=f32[128,24]:uniform(0,1,0), x=bf16[128,24]:randn(1), start=f32[128,1]:randn(2))
# nk: expect recurrences_reference rtol=1e-3
@nki.jit
def recurrences(decay, x, start):
    a, b, s = loaded(decay), loaded(x), loaded(start)
    h, back = tile_like(decay), tile_like(decay)
    nisa.tensor_tensor_scan(dst=h, data0=a, data1=b, initial=s, op0=nl.multiply, op1=nl.add)
    nisa.tensor_tensor_scan(back, a, b, 1.0, nl.subtract, nl.subtract, reverse0=True, reverse1=True)
    return stored(h), stored(back)


def recurrences_reference(decay, x, start):
    h, back = np.zeros((128, 24)), np.zeros((128, 24))
    state, turned = start[:, 0].astype(np.float64), np.ones(128)
    x = x.astype(np.float64)
    for idx in range(24):
        state = decay[:, idx] * state + x[:, idx]
        turned = x[:, idx] - (turned - decay[:, idx])
        h[:, idx], back[:, idx] = state, turned
    return h, back


# nk: run choices(x=f32[128,50]:randn(0), other=f32[128,1]:randn(1))
# nk: expect choices_reference rtol=0
@nki.jit
def choices(x, other):
    a, c = loaded(x), loaded(other)
    mask = tile_like(x, nl.uint8)
    nisa.tensor_scalar(mask, a, op0=nl.greater, operand0=0.0)
    picked, rest, tops = tile_like(x), tile_like(x), column()
    nisa.select_reduce(dst=picked, predicate=mask, on_true=a, on_false=c)
    nisa.select_reduce(
        dst=rest[:, 0:20], predicate=mask[:, 0:20], on_true=a[:, 0:20], on_false=-9.0, reverse_pred=True,
        reduce_cmd=nisa.reduce_cmd.reset_reduce,
    )
    nisa.select_reduce(
        rest[:, 20:50], mask[:, 20:50], a[:, 20:50], -9.0, tops, nisa.reduce_cmd.reduce, nl.maximum, True
    )
    return stored(picked), stored(rest), stored(tops)


def choices_reference(x, other):
    rest = np.where(x > 0, -9, x)
    return np.where(x > 0, x, other), rest, rest.max(axis=1).reshape(128, 1)
