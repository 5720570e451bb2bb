"""Writes casts.bin and functions.bin, the values that tests compare the emulator's casts and functions with.

Needs numpy, ml_dtypes and mpmath. Everything is little-endian and in the order that runtime/tests/exec/golden.rs reads.
"""

import pathlib

import ml_dtypes
import mpmath as mp
import numpy as np

HERE = pathlib.Path(__file__).parent
NAN = {"bf16": 0x7FC0, "f16": 0x7E00, "f8e4m3": 0x7C, "f8e5m2": 0x7E, "f8e3m4": 0x78}
FLOATS = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e3m4": ml_dtypes.float8_e3m4,
}
INTS = {"i32": np.int32, "u32": np.uint32, "i16": np.int16, "u16": np.uint16, "i8": np.int8, "u8": np.uint8}
rng = np.random.default_rng(20240229)


def f32(bits):
    return np.asarray(bits, dtype=np.uint32).view(np.float32)


def interesting_floats():
    """Values at, between and beside representable ones of every format, and all special cases."""
    values = [f32([0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 1, 0x80000001])]
    values.append(f32([0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F7FFF, 0x7F7F8000, 0x7F7F8001]))
    for dtype in FLOATS.values():
        wide = np.uint16 if np.dtype(dtype).itemsize == 2 else np.uint8
        codes = rng.integers(0, 1 << (8 * np.dtype(wide).itemsize), 40).astype(wide)
        exact = codes.view(dtype).astype(np.float32)
        nxt = (codes + 1).astype(wide).view(dtype).astype(np.float32)
        with np.errstate(all="ignore"):
            tie = (exact.astype(np.float64) / 2 + nxt.astype(np.float64) / 2).astype(np.float32)
        for it in (exact, tie):
            values += [it, np.nextafter(it, np.float32(np.inf)), np.nextafter(it, np.float32(-np.inf))]
    for edge in (127, 128, 255, 256, 32767, 65535, 2**31, 2**32, 2**24):
        for delta in (-1.5, -0.5, 0, 0.5, 1.5):
            values.append(np.float32([edge + delta, -edge + delta]))
    values.append(np.arange(-8, 9, dtype=np.float32) / 2)
    values.append(f32(rng.integers(0, 1 << 32, 300)))
    return np.concatenate(values)


def encode(name, values):
    if name in FLOATS:
        with np.errstate(all="ignore"):
            out = values.astype(FLOATS[name])
        width = np.uint16 if out.itemsize == 2 else np.uint8
        return np.where(np.isnan(values), width(NAN[name]), out.view(width)).astype(width)
    if name in INTS:
        info = np.iinfo(INTS[name])
        exact = [0 if np.isnan(x) else int(np.clip(np.rint(np.float64(x)), info.min, info.max)) for x in values]
        return np.array(exact, dtype=INTS[name])
    raise KeyError(name)


def write_casts():
    values = interesting_floats()
    with open(HERE / "casts.bin", "wb") as file:
        for name in ("f8e4m3", "f8e5m2", "f8e3m4"):
            wide = np.arange(256, dtype=np.uint8).view(FLOATS[name]).astype(np.float32)
            file.write(np.where(np.isnan(wide), f32(0x7FC00000), wide).tobytes())
        file.write(np.uint32(len(values)).tobytes())
        file.write(values.tobytes())
        for name in ("bf16", "f16", "f8e4m3", "f8e5m2", "f8e3m4", "i32", "u32", "i16", "u16", "i8", "u8"):
            file.write(encode(name, values).tobytes())


def sigma(x):
    return 1 / (1 + mp.exp(-x))


def phi(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def silu_dx(x):
    return sigma(x) * (1 + x * sigma(-x))


A = mp.mpf("1.702")
# In the order of the emulator's function table.
FUNCTIONS = [
    ("copy", lambda x: x),
    ("square", lambda x: x * x),
    ("abs", abs),
    ("sign", mp.sign),
    ("relu", lambda x: max(x, mp.mpf(0))),
    ("exp", mp.exp),
    ("log", lambda x: mp.log(x) if x > 0 else mp.nan),
    ("softplus", lambda x: mp.log1p(mp.exp(x)) if x < 60 else x + mp.exp(-x)),
    ("sigmoid", sigma),
    ("silu", lambda x: x * sigma(x)),
    ("silu_dx", silu_dx),
    ("tanh", mp.tanh),
    ("mish", lambda x: x * mp.tanh(mp.log1p(mp.exp(x)))),
    ("gelu", lambda x: x * phi(x)),
    ("gelu_dx", lambda x: phi(x) + x * mp.npdf(x)),
    ("gelu_apprx_tanh", lambda x: x * sigma(2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3))),
    ("gelu_apprx_sigmoid", lambda x: x * sigma(A * x)),
    ("gelu_apprx_sigmoid_dx", lambda x: silu_dx(A * x)),
    ("erf", mp.erf),
    ("erf_dx", lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    ("sin", mp.sin),
    ("arctan", mp.atan),
    ("sqrt", lambda x: mp.sqrt(x) if x >= 0 else mp.nan),
    ("rsqrt", lambda x: 1 / mp.sqrt(x) if x > 0 else mp.nan),
    ("reciprocal", lambda x: 1 / x),
]


def inputs(name):
    """Finite values without zeros, over all magnitudes and dense where functions bend."""
    values = [f32(rng.integers(0, 1 << 32, 120)), rng.uniform(-12, 12, 160), rng.uniform(-1, 1, 40)]
    values += [rng.uniform(-110, 110, 80), 10.0 ** rng.uniform(-40, 2, 40) * rng.choice([-1, 1], 40)]
    values += [np.array([1, -1, 0.5, 2, np.pi, -np.pi, np.pi / 2, -1.2784645, -0.7517916, -0.75114, 1e30, -87.3, 88.7])]
    if name == "sin":
        values += [rng.uniform(-1e6, 1e6, 40), rng.uniform(1.6e7, 1e9, 40), np.array([16777216, -16777218, 3e38, 2**100])]
    # Rounded before the powers above are lost to overflow warnings.
    with np.errstate(all="ignore"):
        x = np.concatenate([np.asarray(it, dtype=np.float64).astype(np.float32) for it in values])
    x = x[np.isfinite(x) & (x != 0)]
    return x[x > 0] if name in ("log", "sqrt", "rsqrt") else x


def write_functions():
    mp.mp.prec = 200
    with open(HERE / "functions.bin", "wb") as file:
        for name, function in FUNCTIONS:
            x = inputs(name)
            mp.mp.prec = 400 if name == "sin" else 200
            y = []
            for it in x:
                # Beyond this, sigmoids and tails differ from 0 and 1 by less than f64 can say.
                value = mp.mpf(float(it))
                if abs(value) > 1e5 and name not in ("sin", "log", "sqrt", "rsqrt", "reciprocal", "arctan", "copy"):
                    value = mp.mpf(float(it)) if name in ("square", "abs", "sign", "relu") else clip(name, value)
                y.append(float(value) if isinstance(value, Result) else float(function(value)))
            file.write(np.uint32(len(x)).tobytes())
            file.write(x.tobytes())
            file.write(np.array(y, dtype=np.float64).tobytes())


class Result(mp.mpf):
    """A limit that is already the function's value."""


def clip(name, x):
    """The limit of a function at a huge argument, where mpmath would overflow."""
    positive = x > 0
    identity = name in ("softplus", "silu", "mish", "gelu", "gelu_apprx_tanh", "gelu_apprx_sigmoid")
    if identity:
        return Result(x if positive else 0)
    if name in ("erf", "tanh"):
        return Result(1 if positive else -1)
    if name == "exp":
        return Result("inf") if positive else Result(0)
    if name == "erf_dx":
        return Result(0)
    return Result(1 if positive else 0)


write_casts()
write_functions()
