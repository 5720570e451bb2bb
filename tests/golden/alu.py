"""Every ALU operator on edge values of several dtypes, on the engines that have it."""

import math

import mpmath as mp
import numpy as np

from formats import INTS, decode, edges, encode, encode_integers, word
from program import Program


def maximum(a, b):
    """NaN if any operand is NaN; +0 is larger than -0."""
    both_zero = (a == 0) & (b == 0)
    zero = np.where(np.signbit(a) & np.signbit(b), np.float32(-0.0), np.float32(0.0))
    return np.where(both_zero, zero, np.maximum(a, b))


def power(a, b):
    """a^b rounded once, with the special cases of C."""
    a, b = float(a), float(b)
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        try:
            return np.float32(math.pow(a, b))
        except ValueError:
            # A zero to a negative power; Python refuses what C gives.
            odd = b % 2 == 1
            return np.float32(math.copysign(math.inf, a) if odd else math.inf)
    if a < 0 and b != math.floor(b):
        return np.float32(np.nan)
    sign = -1 if a < 0 and b % 2 == 1 else 1
    with mp.workprec(200):
        exponent = mp.mpf(b) * mp.log(abs(mp.mpf(a)))
        value = float(mp.exp(exponent)) if abs(exponent) < 700 else (math.inf if exponent > 0 else 0.0)
    return np.float32(sign * value)


def truth(it):
    return it.astype(np.float32)


BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": maximum,
    "minimum": lambda a, b: -maximum(-a, -b),
    "equal": lambda a, b: truth(a == b),
    "not_equal": lambda a, b: truth(a != b),
    "greater_equal": lambda a, b: truth(a >= b),
    "greater": lambda a, b: truth(a > b),
    "less_equal": lambda a, b: truth(a <= b),
    "less": lambda a, b: truth(a < b),
    "logical_and": lambda a, b: truth((a != 0) & (b != 0)),
    "logical_or": lambda a, b: truth((a != 0) | (b != 0)),
    "logical_xor": lambda a, b: truth((a != 0) ^ (b != 0)),
    "divide": np.divide,
    "mod": np.mod,
    "fmod": np.fmod,
}
UNARY = {
    "logical_not": lambda a: truth(a == 0),
    "abs": np.abs,
    "reciprocal": lambda a: np.float32(1) / a,
    "rsqrt": lambda a: (1 / np.sqrt(a.astype(np.float64))).astype(np.float32),
}
# (a, b, result): every dtype stands somewhere.
MIXES = [
    ("bf16", "f16", "bf16"),
    ("tf32", "f8e3m4", "tf32"),
    ("f8e4m3", "f8e5m2", "f16"),
    ("i32", "i32", "i32"),
    ("u32", "i32", "u32"),
    ("i16", "u16", "i16"),
    ("i8", "u8", "u16"),
    ("bool", "f32", "f8e4m3"),
    ("f32", "bf16", "f8e5m2"),
    ("u8", "f8e3m4", "f8e3m4"),
    ("f32", "f32", "i8"),
]


def arithmetic(op, a, b):
    return BINARY[op](a, b).astype(np.float32)


def grid(a, b):
    """All pairs: one value of `a` a partition, all values of `b` along it."""
    return np.repeat(a[:, None], len(b), axis=1), np.repeat(b[None, :], len(a), axis=0)


def vector_program():
    program = Program("alu", "Arithmetic operators on edge values, through f32 whatever the dtypes.")
    for a_type, b_type, to in [("f32", "f32", "f32")] + MIXES:
        n = 22 if (a_type, to) == ("f32", "f32") else 9
        a, b = grid(edges(a_type, n), edges(b_type, n))
        names = program.tile(a_type, a), program.tile(b_type, b)
        for op in BINARY:
            value = arithmetic(op, decode(a_type, a), decode(b_type, b))
            program.result(to, encode(to, value), f"tensor_tensor {names[0]}, {names[1]}, op={op}")
        for op, function in UNARY.items():
            engine = " on gpsimd" if op == "rsqrt" else ""
            value = function(decode(a_type, a))
            program.result(to, encode(to, value), f"tensor_scalar {names[0]}, op0={op}, operand0=0{engine}")
    return program


def power_program():
    program = Program("power", "a^b on edge values; the exact power is rounded twice here, so the last place may differ.", 1)
    a, b = grid(edges("f32", 22), edges("f32", 22))
    names = program.tile("f32", a), program.tile("f32", b)
    value = np.vectorize(power, otypes=[np.float32])(decode("f32", a), decode("f32", b))
    program.result("f32", encode("f32", value), f"tensor_tensor {names[0]}, {names[1]}, op=power on gpsimd")
    return program


def integer_program():
    program = Program("integers", "GpSimd's 32-bit integer ALU: exact, wrapping, compared by value.")
    compares = ("equal", "not_equal", "greater_equal", "greater", "less_equal", "less")
    for a_type, b_type in (("i32", "i32"), ("u32", "u32"), ("i32", "u32"), ("u32", "i32")):
        a, b = grid(edges(a_type, 9), edges(b_type, 9))
        names = program.tile(a_type, a), program.tile(b_type, b)
        x, y = a.view(INTS[a_type]).astype(object), b.view(INTS[b_type]).astype(object)
        results = {"add": x + y, "subtract": x - y, "multiply": x * y}
        results |= {"maximum": np.maximum(x, y), "minimum": np.minimum(x, y)}
        results |= {op: BINARY[op](x, y).astype(np.int64) for op in compares}
        for op, exact in results.items():
            words = np.array([int(it) & 0xFFFFFFFF for it in exact.ravel()], dtype=np.uint32).reshape(exact.shape)
            kind = a_type if op not in compares else "i32"
            values = words.view(INTS[kind]).astype(np.int64)
            for to in ("i32", "u32", "f32", "i8", "bf16"):
                raw = words if to in ("i32", "u32") else encode_integers(to, values)
                program.result(to, raw, f"tensor_tensor {names[0]}, {names[1]}, op={op} on gpsimd")
    return program


def bits_program():
    program = Program("bits", "Bit operators on raw integers of every width; shifts by the width or more give 0.")
    for dtype in ("i32", "u32", "i16", "u16", "i8", "u8"):
        kind = word(dtype)
        width = 8 * np.dtype(kind).itemsize
        values = edges(dtype, 12)
        counts = np.array([0, 1, 2, width - 1, width, width + 1, 100, -1], dtype=np.int64).astype(INTS[dtype]).view(kind)
        a, b = grid(values, np.concatenate([values, counts]))
        names = program.tile(dtype, a), program.tile(dtype, b)
        wide, fits = a.astype(np.uint64), b < width
        count = np.where(fits, b, 0).astype(np.uint64)
        results = {
            "bitwise_and": a & b,
            "bitwise_or": a | b,
            "bitwise_xor": a ^ b,
            "left_shift": np.where(fits, wide << count, 0).astype(kind),
            "right_shift": np.where(fits, wide >> count, 0).astype(kind),
        }
        for op, raw in results.items():
            program.result(dtype, raw, f"tensor_tensor {names[0]}, {names[1]}, op={op}")
        program.result(dtype, ~a, f"tensor_scalar {names[0]}, op0=invert, operand0=0")
    return program


def files():
    programs = [vector_program(), power_program(), integer_program(), bits_program()]
    return {name: data for it in programs for name, data in it.files().items()}
