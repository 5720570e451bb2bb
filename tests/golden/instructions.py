"""Every instruction on a few shapes, dtypes and options, by NumPy.

Sums and products are of small integers where the order of the additions is not the point, so that every order gives the
same bits.
"""

import mpmath as mp
import numpy as np

from alu import BINARY, arithmetic
from formats import convert, decode, encode, encode_integers, word
from program import Program


def integers(rng, dtype, shape, low=-9, high=10):
    return encode(dtype, rng.integers(low, high, shape).astype(np.float32))


def numbers(rng, dtype, shape):
    return encode(dtype, rng.normal(0, 2, shape).astype(np.float32))


def dma_copy(rng):
    program = Program("dma_copy", "dma_copy: casts, boxes, patterns, and a shape that another one flattens to.")
    source = numbers(rng, "f32", (6, 8))
    name = program.hbm("f32", source)
    program.expect_hbm("f32", source.reshape(4, 12), f"dma_copy {name}")
    program.expect_hbm("bf16", convert("f32", "bf16", source[1:4, 2:7]), f"dma_copy {name}[1:4, 2:7]")
    program.expect_hbm("f32", source.ravel()[47::-3], f"dma_copy {name}[47 + 16*-3]")
    tile = program.buffer("f8e4m3", (6, 8))
    program.add(f"{tile} <- dma_copy {name}")
    program.expect("f8e4m3", convert("f32", "f8e4m3", source), tile)
    halves = rng.integers(0, 1 << 16, (5, 7)).astype(np.uint16)
    name = program.hbm("i16", halves)
    program.expect_hbm("i16", halves[::-1, 3], f"dma_copy {name}[31 + 5*-7]")
    return program


def dma_transpose(rng):
    program = Program("dma_transpose", "dma_transpose of two, three and four axes, from HBM and from SBUF.")
    for dtype, shape, order in (
        ("f32", (5, 9), (1, 0)),
        ("bf16", (32, 128), (1, 0)),
        ("u8", (3, 4, 6), (2, 1, 0)),
        ("f16", (2, 3, 5, 4), (3, 1, 2, 0)),
    ):
        raw = rng.integers(0, 1 << 8, shape).astype(word(dtype))
        turned = raw.transpose(order)
        program.result(dtype, turned, f"dma_transpose {program.hbm(dtype, raw)}")
        program.result(dtype, turned, f"dma_transpose {program.tile(dtype, raw)}")
    return program


def tensor_copy(rng):
    program = Program("tensor_copy", "tensor_copy: bits between equal dtypes, patterns that turn and repeat, casts, PSUM.")
    raw = rng.integers(0, 1 << 32, (4, 12)).astype(np.uint32)
    name = program.tile("f32", raw)
    program.result("f32", raw, f"tensor_copy {name} on gpsimd")
    program.result("f32", raw[:, ::-1].reshape(4, 3, 4).transpose(0, 2, 1), f"tensor_copy {name}[0:4, 11 + 4*-1 + 3*-4]")
    program.result("f32", np.repeat(raw[0:2, 5:6], 6, axis=1), f"tensor_copy {name}[0:2, 5 + 6*0]")
    program.result("u8", raw.view(np.uint8)[:, 1::2], f"tensor_copy {name}:u8[0:4, 1 + 24*2]")
    values = numbers(rng, "f16", (33, 5))
    name = program.tile("f16", values)
    program.result("f8e5m2", convert("f16", "f8e5m2", values), f"tensor_copy {name}", "psum")
    program.result("i8", convert("f16", "i8", values[32:]), f"tensor_copy {name}[32:33, 0:5]")
    return program


def memset(rng):
    program = Program("memset", "memset of every class of dtype, and of a part of a tile.")
    for dtype, value, text in (
        ("f32", 1e-6, "1e-6"),
        ("bf16", -np.inf, "neg_inf"),
        ("f8e3m4", 2.9, "2.9"),
        ("tf32", 1.0009765, "1.0009765"),
        ("i16", -300, "-300"),
        ("u8", 200, "200"),
        ("u32", 4294967295, "4294967295"),
        ("bool", 1, "true"),
    ):
        exact = np.full((3, 5), value)
        raw = encode_integers(dtype, exact.astype(np.int64)) if dtype in ("i16", "u8", "u32") else encode(dtype, exact)
        program.result(dtype, raw, f"memset value={text}")
    tile = program.tile("f32", encode("f32", np.zeros((4, 6))))
    program.add(f"{tile}[0:4, 1 + 3*2] <- memset value=7.0 on gpsimd")
    program.expect("f32", encode("f32", np.tile(np.float32([0, 7]), (4, 3))), tile)
    return program


def iota(rng):
    program = Program("iota", "iota: affine patterns in int32 that wrap, then a cast.")
    p = np.arange(5, dtype=np.int64)[:, None]
    wrap = lambda it: it.astype(np.int32).astype(np.int64)
    one = wrap(7 + 3 * p + 10 * np.arange(6))
    two = wrap(-1 + (p * 2**30)[:, :, None] + (2**30 * np.arange(3))[:, None] + -1 * np.arange(4))
    for dtype in ("i32", "u32", "f32", "i8", "bf16"):
        program.result(dtype, encode_integers(dtype, one), "iota pattern=6*10, offset=7, channel_multiplier=3")
        text = "iota pattern=3*1073741824 + 4*-1, offset=-1, channel_multiplier=1073741824"
        program.result(dtype, encode_integers(dtype, two), text)
    return program


def fused(st, mv, start=None):
    """sum over k of st[k, m] * mv[k, n] with one rounding to f32 a step, k ascending."""
    sums = np.zeros((st.shape[1], mv.shape[1]), dtype=object)
    for m in range(st.shape[1]):
        for n in range(mv.shape[1]):
            total = mp.mpf(0)
            for k in range(st.shape[0]):
                with mp.workprec(400):
                    exact = mp.mpf(float(st[k, m])) * mp.mpf(float(mv[k, n])) + total
                with mp.workprec(24):
                    total = +exact
            sums[m, n] = float(total)
    return sums.astype(np.float32)


def nc_matmul(rng):
    program = Program("nc_matmul", "nc_matmul: fused and ascending in k, every pair of dtypes, accumulation, a part of a bank.")
    pairs = [("f32", "f32"), ("tf32", "f32"), ("tf32", "tf32"), ("bf16", "bf16"), ("f16", "bf16"), ("f8e4m3", "f8e5m2")]
    for a, b in pairs + [("f8e5m2", "f16")]:
        # Words of tf32 whose low bits are set: they are rounded away on reading.
        st, mv = numbers(rng, "f32" if a == "tf32" else a, (9, 4)), numbers(rng, "f32" if b == "tf32" else b, (9, 5))
        names = program.tile(a, st), program.tile(b, mv)
        value = fused(decode(a, st), decode(b, mv))
        program.result("f32", encode("f32", value), f"nc_matmul {names[0]}, {names[1]}", "psum")
    for k, m, n in ((128, 64, 5), (3, 1, 1), (9, 2, 512), (17, 128, 3)):
        st, mv = integers(rng, "bf16", (k, m)), integers(rng, "bf16", (k, n))
        names = program.tile("bf16", st), program.tile("bf16", mv)
        value = decode("bf16", st).T @ decode("bf16", mv)
        acc = program.buffer("f32", (m, n), "psum")
        program.add(f"{acc} <- nc_matmul {names[0]}, {names[1]}")
        program.expect("f32", encode("f32", value), acc, "psum")
        program.add(f"{acc} <- nc_matmul {names[0]}, {names[1]}, accumulate=true")
        program.expect("f32", encode("f32", 2 * value), acc, "psum")
    return program


def nc_transpose(rng):
    program = Program("nc_transpose", "nc_transpose: a product with the identity on the Tensor engine, moved bits on the Vector engine.")
    for dtype, shape in (("f32", (128, 33)), ("f32", (3, 70)), ("f32", (17, 128)), ("bf16", (32, 5)), ("f8e5m2", (7, 9))):
        raw = numbers(rng, dtype, shape)
        program.result(dtype, raw.T, f"nc_transpose {program.tile(dtype, raw)}", "psum")
    raw = rng.integers(0, 1 << 32, (32, 32)).astype(np.uint32)
    program.result("f32", raw.T, f"nc_transpose {program.tile('f32', raw)} on vector")
    raw = rng.integers(0, 1 << 16, (5, 31)).astype(np.uint16)
    program.result("i16", raw.T, f"nc_transpose {program.tile('i16', raw)} on vector")
    special = np.float32([[1, -0.0, np.inf, 4], [2, -1, 3, np.nan], [0, 5, 6, 7]])
    spread = special.T @ np.eye(3, dtype=np.float32) + np.float32(0)
    # 0 * inf and 0 * NaN make every other element of the row NaN; the element that meets the 1 stays.
    program.result("f32", encode("f32", spread), f"nc_transpose {program.tile('f32', encode('f32', special))}", "psum")
    return program


def tensor_tensor(rng):
    program = Program("tensor_tensor", "tensor_tensor: shapes with three free axes, patterns, PSUM, in place, mixed dtypes.")
    a, b = numbers(rng, "f32", (7, 2, 3, 4)), numbers(rng, "bf16", (7, 24))
    names = program.tile("f32", a), program.tile("bf16", b, "psum")
    want = arithmetic("multiply", a.view(np.float32).reshape(7, 24), decode("bf16", b))
    program.result("f16", encode("f16", want), f"tensor_tensor {names[0]}, {names[1]}, op=multiply")
    turned = decode("bf16", b).reshape(7, 4, 6).transpose(0, 2, 1).reshape(7, 24)
    want = arithmetic("subtract", a.view(np.float32).reshape(7, 24), turned)
    program.result("f32", encode("f32", want), f"tensor_tensor {names[0]}, {names[1]}[0:7, 0 + 6*1 + 4*6], op=subtract")
    tall = numbers(rng, "f32", (128, 1)), numbers(rng, "f32", (128, 1))
    names = [program.tile("f32", it) for it in tall]
    program.add(f"{names[0]} <- tensor_tensor {names[0]}, {names[1]}, op=add")
    program.expect("f32", encode("f32", arithmetic("add", *(it.view(np.float32) for it in tall))), names[0])
    words = rng.integers(0, 1 << 32, (2, 33)).astype(np.uint32), rng.integers(0, 1 << 32, (2, 33)).astype(np.uint32)
    names = [program.tile("i32", it) for it in words]
    program.result("i32", words[0] * words[1], f"tensor_tensor {names[0]}, {names[1]}, op=multiply on gpsimd")
    return program


def tensor_scalar(rng):
    program = Program("tensor_scalar", "tensor_scalar: columns and immediates, one and two operators, both reversed; bit operators.")
    data, column = numbers(rng, "f32", (6, 10)), numbers(rng, "bf16", (6, 1))
    x, c = data.view(np.float32), decode("bf16", column)
    names = program.tile("f32", data), program.tile("bf16", column)
    full = lambda value: np.full(x.shape, value, dtype=np.float32)
    wide = np.repeat(c, 10, axis=1)
    for op in BINARY:
        first = arithmetic(op, x, wide)
        program.result("f32", encode("f32", first), f"tensor_scalar {names[0]}, op0={op}, operand0={names[1]}")
        second = arithmetic("subtract", full(0.75), arithmetic(op, wide, x))
        text = f"tensor_scalar {names[0]}, op0={op}, operand0={names[1]}, reverse0=true, op1=subtract, operand1=0.75, reverse1=true"
        program.result("bf16", encode("bf16", second), text)
    square = arithmetic("add", arithmetic("multiply", x, full(-0.3)), full(1e-6))
    program.result("f32", encode("f32", square), f"tensor_scalar {names[0]}, op0=multiply, operand0=-0.3, op1=add, operand1=1e-6")
    bits = rng.integers(0, 1 << 16, (4, 9)).astype(np.uint16)
    name = program.tile("u16", bits)
    masked = ((bits >> np.uint16(3)) & np.uint16(0x55)).astype(np.uint8)
    program.result("u8", masked, f"tensor_scalar {name}, op0=right_shift, operand0=3, op1=bitwise_and, operand1=85")
    return program


def scalar_tensor_tensor(rng):
    program = Program("scalar_tensor_tensor", "scalar_tensor_tensor: (data op0 scalar or column) op1 tile, both reversed.")
    data, column, other = numbers(rng, "f32", (5, 12)), numbers(rng, "f32", (5, 1)), numbers(rng, "f16", (5, 12))
    x, c, y = data.view(np.float32), column.view(np.float32), decode("f16", other)
    names = program.tile("f32", data), program.tile("f16", other, "psum"), program.tile("f32", column)
    wide = np.repeat(c, 12, axis=1)
    for op0, op1 in (("multiply", "add"), ("subtract", "maximum"), ("less", "logical_or"), ("divide", "subtract")):
        forward = arithmetic(op1, arithmetic(op0, x, wide), y)
        head = f"scalar_tensor_tensor {names[0]}, {names[1]}, op0={op0}"
        program.result("f32", encode("f32", forward), f"{head}, operand0={names[2]}, op1={op1}")
        back = arithmetic(op1, y, arithmetic(op0, np.full(x.shape, np.float32(1.5)), x))
        program.result("tf32", encode("tf32", back), f"{head}, operand0=1.5, op1={op1}, reverse0=true, reverse1=true")
    return program


def tensor_reduce(rng):
    program = Program("tensor_reduce", "tensor_reduce: every operator, trailing axes, negated; the data are small integers.")
    shape = (4, 3, 5, 6)
    data = integers(rng, "f32", shape)
    name, x = program.tile("f32", data), data.view(np.float32)
    for axes, text in (((1, 2, 3), "(1, 2, 3)"), ((2, 3), "(2, 3)"), ((3,), "3")):
        flat = x.reshape(*[shape[it] for it in range(4) if it not in axes], -1)
        results = {
            "add": flat.sum(-1),
            "maximum": flat.max(-1),
            "minimum": flat.min(-1),
            "subtract": 2 * flat[..., 0] - flat.sum(-1),
            "logical_and": (flat != 0).all(-1),
            "logical_or": (flat != 0).any(-1),
            "logical_xor": (flat != 0).sum(-1) % 2,
        }
        for op, value in results.items():
            value = np.atleast_2d(value.astype(np.float32).T).T
            program.result("f32", encode("f32", value), f"tensor_reduce {name}, op={op}, axis={text}")
            program.result("bf16", encode("bf16", -value), f"tensor_reduce {name}, op={op}, axis={text}, negate=true")
    twos = encode("bf16", rng.choice(np.float32([1, 2, -1, 0.5]), (3, 40)))
    want = decode("bf16", twos).prod(-1, keepdims=True)
    program.result("f32", encode("f32", want), f"tensor_reduce {program.tile('bf16', twos)}, op=multiply, axis=1")
    words = rng.integers(0, 1 << 16, (3, 7)).astype(np.uint16)
    name = program.tile("i16", words)
    for op, function in (("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or), ("bitwise_xor", np.bitwise_xor)):
        program.result("i16", function.reduce(words, axis=1)[:, None], f"tensor_reduce {name}, op={op}, axis=1")
    return program


def activation(rng):
    program = Program("activation", "activation: scale and bias in one fused step, the accumulator and its commands; exact functions.")
    data, bias, scale = integers(rng, "f32", (6, 20)), integers(rng, "bf16", (6, 1)), integers(rng, "f32", (6, 1))
    x, b, s = data.view(np.float32), decode("bf16", bias), scale.view(np.float32)
    names = program.tile("f32", data, "psum"), program.tile("bf16", bias), program.tile("f32", scale)
    functions = {
        "copy": lambda it: it,
        "square": lambda it: it * it,
        "abs": np.abs,
        "sign": np.sign,
        "relu": lambda it: np.maximum(it, np.float32(0)),
    }
    for op, function in functions.items():
        value = function(x * s + b)
        program.result("f32", encode("f32", value + 0), f"activation {names[0]}, op={op}, bias={names[1]}, scale={names[2]}")
        program.result("i16", encode("i16", function(x * np.float32(-2))), f"activation {names[0]}, op={op}, scale=-2.0")
    total = np.zeros((6, 1), dtype=np.float32)
    for cmd, op in (("reset_reduce", "copy"), ("reduce", "square"), ("reduce", "relu")):
        total = total * (cmd == "reduce") + functions[op](x).sum(1, keepdims=True)
        result = program.buffer("f32", (6, 1))
        text = f"activation {names[0]}, op={op}, reduce_op=add, reduce_res={result}, reduce_cmd={cmd}"
        program.result("f32", encode("f32", functions[op](x) + 0), text)
        program.expect("f32", encode("f32", total), result)
    fine = numbers(rng, "f32", (3, 8)), numbers(rng, "f32", (3, 1))
    names = [program.tile("f32", it) for it in fine]
    rounded = np.vectorize(lambda a, c: float(once(a, c)), otypes=[np.float32])(*(it.view(np.float32) for it in fine))
    program.result("f32", encode("f32", rounded), f"activation {names[0]}, op=copy, bias={names[1]}, scale=0.7")
    return program


def once(a, c):
    """a * 0.7 + c, rounded once to f32."""
    with mp.workprec(400):
        exact = mp.mpf(float(a)) * mp.mpf(float(np.float32(0.7))) + mp.mpf(float(c))
    with mp.workprec(24):
        return +exact


def activation_reduce(rng):
    program = Program("activation_reduce", "activation_reduce: the sums of a row's results before their cast.")
    data = integers(rng, "f32", (33, 50))
    name, x = program.tile("f32", data), data.view(np.float32)
    sums = program.buffer("f32", (33, 1))
    halves = x * np.float32(0.0625)
    text = f"activation_reduce {name}, op=copy, reduce_op=add, reduce_res={sums}, scale=0.0625"
    program.result("i8", encode("i8", halves), text)
    program.expect("f32", encode("f32", halves.sum(1, keepdims=True)), sums)
    return program


def reciprocal(rng):
    program = Program("reciprocal", "reciprocal: correctly rounded in f32, then cast.")
    for source, to in (("f32", "f32"), ("bf16", "f16"), ("i32", "f32"), ("f8e4m3", "bf16")):
        data = integers(rng, source, (5, 6)) if source == "i32" else numbers(rng, source, (5, 6))
        value = np.float32(1) / decode(source, data)
        program.result(to, encode(to, value), f"reciprocal {program.tile(source, data)}")
    return program


def affine_select(rng):
    program = Program("affine_select", "affine_select: every comparison of an int32 pattern with 0.")
    data = numbers(rng, "f32", (8, 8))
    name = program.tile("f32", data)
    pattern = -2 + np.arange(8)[:, None] - np.arange(8)
    for op in ("equal", "not_equal", "greater_equal", "greater", "less_equal", "less"):
        keeps = BINARY[op](pattern, 0) != 0
        value = np.where(keeps, data.view(np.float32), np.float32(-1e30))
        text = f"affine_select {name}, pattern=8*-1, channel_multiplier=1, on_false_value=-1e30, cmp_op={op}, offset=-2"
        program.result("f32", encode("f32", value), text)
        program.result("bf16", encode("bf16", value), text)
    return program


def tensor_copy_predicated(rng):
    program = Program("tensor_copy_predicated", "tensor_copy_predicated: masks of every width, a constant, reversed.")
    for mask, reverse in (("u8", False), ("u16", True), ("u32", False)):
        old, new = numbers(rng, "bf16", (4, 9)), numbers(rng, "bf16", (4, 9))
        bits = (rng.integers(0, 3, (4, 9)) % 2 * rng.integers(1, 200, (4, 9))).astype(word(mask))
        names = program.tile("bf16", old), program.tile(mask, bits), program.tile("bf16", new)
        takes = (bits != 0) != reverse
        flag = ", reverse_pred=true" if reverse else ""
        program.add(f"{names[0]} <- tensor_copy_predicated {names[1]}, src={names[2]}{flag}")
        program.expect("bf16", np.where(takes, new, old), names[0])
        program.add(f"{names[0]} <- tensor_copy_predicated {names[1]}, src=0.5")
        program.expect("bf16", np.where(bits != 0, encode("bf16", np.float32([0.5])), np.where(takes, new, old)), names[0])
    return program


# One function a row of the instruction table.
ROWS = (
    dma_copy,
    dma_transpose,
    tensor_copy,
    memset,
    iota,
    nc_matmul,
    nc_transpose,
    tensor_tensor,
    tensor_scalar,
    scalar_tensor_tensor,
    tensor_reduce,
    activation,
    activation_reduce,
    reciprocal,
    affine_select,
    tensor_copy_predicated,
)


def files():
    files = {}
    for idx, row in enumerate(ROWS):
        # A seed of its own: a new row leaves the others as they are.
        files |= row(np.random.default_rng([20240401, idx])).files()
    return files
