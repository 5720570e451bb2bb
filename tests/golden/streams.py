"""The instructions that carry something along a row or move whole rows: scans, accumulators, searches, statistics, gathers.

Left out are those whose values nobody else defines: `rng` and `set_rng_seed`, whose sequence is the emulator's own, and the
instructions of registers, which compute nothing.
"""

import functools

import numpy as np

from alu import arithmetic
from formats import decode, encode
from instructions import integers, numbers
from program import Program

IDENTITY = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf}


def one(op, a, b):
    return arithmetic(op, np.float32(a), np.float32(b))


def tensor_scalar_reduce(rng):
    program = Program("tensor_scalar_reduce", "tensor_scalar_reduce: results and their reduction, of small integers; loads, negation.")
    data, column = integers(rng, "f32", (5, 24)), integers(rng, "bf16", (5, 1))
    x, c = data.view(np.float32), decode("bf16", column)
    names = program.tile("f32", data), program.tile("bf16", column)
    for reduce_op in ("add", "maximum", "minimum"):
        for op0 in ("multiply", "add", "maximum"):
            value = arithmetic(op0, x, np.repeat(c, 24, axis=1))
            folded = functools.reduce(lambda a, b: arithmetic(reduce_op, a, b), value.T)[:, None]
            result = program.buffer("f32", (5, 1))
            text = f"tensor_scalar_reduce {names[0]}, op0={op0}, operand0={names[1]}, reduce_op={reduce_op}, reduce_res={result}"
            program.result("bf16", encode("bf16", value), text)
            program.expect("f32", encode("f32", folded), result)
            total = arithmetic(reduce_op, folded, np.full((5, 1), np.float32(2.5)))
            result = program.buffer("f32", (5, 1))
            more = f"reduce_res={result}, reduce_cmd=load_reduce, reduce_init=2.5, reduce_res_negate=true"
            text = f"tensor_scalar_reduce {names[0]}, op0={op0}, operand0={names[1]}, reduce_op={reduce_op}, {more}"
            program.result("f32", encode("f32", value), text)
            program.expect("f32", encode("f32", -total), result)
    return program


def tensor_scalar_cumulative(rng):
    program = Program("tensor_scalar_cumulative", "tensor_scalar_cumulative: V = (src op0 imm0) op1 V, one rounding a step.")
    data = numbers(rng, "f32", (4, 19))
    name, x = program.tile("f32", data), data.view(np.float32)
    for op0 in ("multiply", "add"):
        for op1 in ("add", "subtract", "multiply", "maximum", "minimum"):
            value = np.empty_like(x)
            for p in range(4):
                held = np.float32(IDENTITY[op1])
                for idx in range(19):
                    held = one(op1, one(op0, x[p, idx], 0.7), held)
                    value[p, idx] = held
            text = f"tensor_scalar_cumulative {name}, op0={op0}, op1={op1}, imm0=0.7"
            program.result("f32", encode("f32", value), text)
    return program


def tensor_tensor_scan(rng):
    program = Program("tensor_tensor_scan", "tensor_tensor_scan: s = (data0 op0 s) op1 data1, one rounding a step, reversed too.")
    a, b, start = numbers(rng, "f32", (3, 17)), numbers(rng, "bf16", (3, 17)), numbers(rng, "f32", (3, 1))
    x, y, s = a.view(np.float32), decode("bf16", b), start.view(np.float32)
    names = program.tile("f32", a), program.tile("bf16", b), program.tile("f32", start)
    for op0, op1 in (("multiply", "add"), ("add", "multiply"), ("subtract", "maximum"), ("minimum", "subtract")):
        for reverse in (False, True):
            value = np.empty_like(x)
            for p in range(3):
                held = s[p, 0]
                for idx in range(17):
                    first = one(op0, held, x[p, idx]) if reverse else one(op0, x[p, idx], held)
                    held = one(op1, y[p, idx], first) if reverse else one(op1, first, y[p, idx])
                    value[p, idx] = held
            flags = ", reverse0=true, reverse1=true" if reverse else ""
            text = f"tensor_tensor_scan {names[0]}, {names[1]}, initial={names[2]}, op0={op0}, op1={op1}{flags}"
            program.result("f32", encode("f32", value), text)
            program.result("f16", encode("f16", value), text)
    return program


def select_reduce(rng):
    program = Program("select_reduce", "select_reduce: a choice by a mask, and the maximum of each row.")
    data, column = numbers(rng, "f32", (6, 11)), numbers(rng, "f32", (6, 1))
    mask = (rng.integers(0, 2, (6, 11)) * 3).astype(np.uint8)
    x, c = data.view(np.float32), column.view(np.float32)
    names = program.tile("u8", mask), program.tile("f32", data), program.tile("f32", column)
    for reverse in (False, True):
        value = np.where((mask != 0) != reverse, x, c)
        result = program.buffer("f32", (6, 1))
        flag = ", reverse_pred=true" if reverse else ""
        text = f"select_reduce {names[0]}, {names[1]}, on_false={names[2]}, reduce_res={result}, reduce_cmd=reset_reduce{flag}"
        program.result("f32", encode("f32", value), text)
        program.expect("f32", encode("f32", value.max(1, keepdims=True)), result)
        value = np.where((mask != 0) != reverse, x, np.float32(-1.25))
        program.result("bf16", encode("bf16", value), f"select_reduce {names[0]}, {names[1]}, on_false=-1.25{flag}")
    return program


def bn_stats(rng):
    program = Program("bn_stats", "bn_stats and bn_aggr of small integers in rows whose halves are a power of two long.")
    for n in (8, 32):
        data = integers(rng, "f32", (3, n))
        x = data.view(np.float32).astype(np.float64)
        parts = [x[:, 0::2], x[:, 1::2]]
        triples = [[np.full(3, n / 2), it.mean(1), it.var(1) * (n / 2)] for it in parts]
        stats = np.array(sum(triples, [])).T.astype(np.float32)
        name = program.buffer("f32", (3, 6))
        program.add(f"{name} <- bn_stats {program.tile('f32', data)}")
        program.expect("f32", encode("f32", stats), name)
        both = np.stack([x.mean(1), x.var(1)], axis=1).astype(np.float32)
        program.result("f32", encode("f32", both), f"bn_aggr {name}")
    return program


def find(row, values):
    """The first place of each value that none before it has taken."""
    taken, places = set(), []
    for value in values:
        place = next((idx for idx, it in enumerate(row) if it == value and idx not in taken), None)
        places.append(0xFFFFFFFF if place is None else place)
        taken.add(place)
    return places


def eight(rng):
    program = Program("eight", "max8, nc_find_index8 and nc_match_replace8 of rows with many equal values.")
    for n in (8, 40):
        data = integers(rng, "f32", (5, n))
        x = data.view(np.float32) + np.float32(0)
        data = x.view(np.uint32)
        name = program.tile("f32", data)
        largest = -np.sort(-x, axis=1)[:, :8]
        program.result("f32", encode("f32", largest), f"max8 {name}")
        values = np.concatenate([largest[:, :5], rng.integers(-9, 10, (5, 3)).astype(np.float32)], axis=1)
        wanted = program.tile("f32", encode("f32", values))
        places = np.array([find(*it) for it in zip(x, values)], dtype=np.uint32)
        program.result("u32", places, f"nc_find_index8 {name}, {wanted}")
        program.result("u16", places.astype(np.uint16), f"nc_find_index8 {name}, {wanted}")
        replaced = x.copy()
        for row, wants in zip(replaced, values):
            done = set()
            # The last value matches first.
            for value in wants[::-1]:
                place = next((idx for idx, it in enumerate(row) if it == value and idx not in done), None)
                if place is not None:
                    done.add(place)
            for place in done:
                row[place] = -100.0
        program.result("f32", encode("f32", replaced), f"nc_match_replace8 {name}, {wanted}, imm=-100")
    return program


def nc_stream_shuffle(rng):
    program = Program("nc_stream_shuffle", "nc_stream_shuffle: a permutation of the lanes of two quadrants, some of them kept.")
    old, new = numbers(rng, "bf16", (64, 3)), numbers(rng, "bf16", (64, 3))
    mask = rng.permutation(32)
    mask[[3, 17]] = 255
    dst = program.tile("bf16", old)
    program.add(f"{dst} <- nc_stream_shuffle {program.tile('bf16', new)}, shuffle_mask=({', '.join(map(str, mask))})")
    want = old.copy()
    for quadrant in (0, 32):
        for lane, source in enumerate(mask):
            if source != 255:
                want[quadrant + lane] = new[quadrant + source]
    program.expect("bf16", want, dst)
    return program


def gathers(rng):
    program = Program("gathers", "local_gather and nc_n_gather; an index that leaves the row reads ones.")
    data = rng.integers(0, 1 << 16, (32, 10)).astype(np.uint16)
    index = rng.integers(0, 9, (32, 2)).astype(np.uint16)
    names = program.tile("i16", data), program.tile("u16", index)
    want = np.empty((32, 40), dtype=np.uint16)
    for p in range(32):
        # The sixteen partitions of a core share their indices, partition fastest.
        core = index[p // 16 * 16 : p // 16 * 16 + 16].T.ravel()[:20]
        want[p] = np.concatenate([data[p, it : it + 2] for it in core])
    program.result("i16", want, f"local_gather {names[0]}, {names[1]}, num_elem_per_idx=2, num_valid_indices=20")
    words = rng.integers(0, 1 << 32, (7, 9)).astype(np.uint32)
    places = rng.integers(0, 12, (7, 5)).astype(np.uint32)
    padded = np.concatenate([words, np.full((7, 3), 0xFFFFFFFF, dtype=np.uint32)], axis=1)
    names = program.tile("f32", words), program.tile("u32", places)
    program.result("f32", np.take_along_axis(padded, places.astype(np.int64), 1), f"nc_n_gather {names[0]}, {names[1]}")
    return program


def partitions(rng):
    program = Program("tensor_partition_reduce", "tensor_partition_reduce of small integers, and of bits.")
    data = integers(rng, "f32", (64, 9))
    name, x = program.tile("f32", data), data.view(np.float32)
    results = {"add": x.sum(0), "average": x.mean(0), "maximum": x.max(0)}
    for op, value in results.items():
        program.result("f32", encode("f32", value[None, :] + 0), f"tensor_partition_reduce {name}, op={op}")
    words = rng.integers(0, 1 << 32, (5, 6)).astype(np.uint32)
    name = program.tile("i32", words)
    for op, function in (("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or)):
        program.result("i32", function.reduce(words, axis=0)[None, :], f"tensor_partition_reduce {name}, op={op}")
    return program


def sequence_bounds(rng):
    program = Program("sequence_bounds", "sequence_bounds of runs of random lengths, with padding between them.")
    n = 60
    ids = np.repeat(rng.integers(0, 5, n), rng.integers(1, 6, n))[:n].astype(np.int64)
    bounds = np.empty((2, n), dtype=np.int64)
    for idx, it in enumerate(ids):
        if it == 0:
            bounds[:, idx] = n, -1
            continue
        start = idx
        while start > 0 and ids[start - 1] == it:
            start -= 1
        end = idx
        while end < n and ids[end] == it:
            end += 1
        bounds[:, idx] = start, end
    for dtype in ("i32", "f32"):
        raw = lambda it: it.astype(np.int32).view(np.uint32) if dtype == "i32" else encode("f32", it.astype(np.float32))
        name = program.tile(dtype, raw(ids[None, :]))
        program.result(dtype, raw(bounds[None, :, :]), f"sequence_bounds {name}")
    return program


def dropout(rng):
    program = Program("dropout", "dropout with the two probabilities that leave nothing to chance.")
    data = numbers(rng, "bf16", (4, 7))
    name = program.tile("bf16", data)
    program.result("bf16", np.zeros_like(data), f"dropout {name}, prob=1")
    program.result("bf16", data, f"dropout {name}, prob=0")
    return program


def dma_compute(rng):
    program = Program("dma_compute", "dma_compute: sums in f32, in the order of the sources, cast at the end.")
    parts = [("f32", numbers(rng, "f32", (4, 5))), ("bf16", numbers(rng, "bf16", (4, 5))), ("i16", integers(rng, "i16", (4, 5)))]
    names = [program.hbm(dtype, raw) for dtype, raw in parts]
    total = decode(*parts[0])
    for dtype, raw in parts[1:]:
        total = arithmetic("add", total, decode(dtype, raw))
    for dtype in ("f32", "f16", "i8"):
        program.expect_hbm(dtype, encode(dtype, total), f"dma_compute {names[0]}, src1={names[1]}, src2={names[2]}")
    return program


ROWS = (
    tensor_scalar_reduce,
    tensor_scalar_cumulative,
    tensor_tensor_scan,
    select_reduce,
    bn_stats,
    eight,
    nc_stream_shuffle,
    gathers,
    partitions,
    sequence_bounds,
    dropout,
    dma_compute,
)


def files():
    files = {}
    for idx, row in enumerate(ROWS):
        files |= row(np.random.default_rng([20240501, idx])).files()
    return files
