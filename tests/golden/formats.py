"""NeuronCore's element types in NumPy: raw words to float32 and back, by the casts of numpy and ml_dtypes.

Raw elements are unsigned words of the type's size. Every NaN that a conversion makes is the type's canonical one.
"""

import ml_dtypes
import numpy as np

# Infinities and NaNs are what most of this is about.
np.seterr(all="ignore")

# In the order of the emulator's table.
DTYPES = ("f32", "tf32", "bf16", "f16", "f8e4m3", "f8e5m2", "f8e3m4", "i32", "u32", "i16", "u16", "i8", "u8", "bool")
SMALL_FLOATS = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e3m4": ml_dtypes.float8_e3m4,
}
INTS = {"i32": np.int32, "u32": np.uint32, "i16": np.int16, "u16": np.uint16, "i8": np.int8, "u8": np.uint8}
NAN = {"bf16": 0x7FC0, "f16": 0x7E00, "f8e4m3": 0x7C, "f8e5m2": 0x7E, "f8e3m4": 0x78}
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def size(dtype):
    if dtype in ("f32", "tf32", "i32", "u32"):
        return 4
    return 2 if dtype in ("bf16", "f16", "i16", "u16") else 1


def word(dtype):
    return WORDS[size(dtype)]


def f32(bits):
    return np.asarray(bits, dtype=np.uint32).view(np.float32)


def canonical(values):
    """float32 with every NaN the same."""
    return np.where(np.isnan(values), f32(0x7FC00000), values).astype(np.float32)


def round_tf32(values):
    """float32 values with eleven significant bits, ties to even; computed in float64, where nothing else rounds."""
    exact = values.astype(np.float64)
    _, exponent = np.frexp(exact)
    # Subnormal numbers share the unit of the smallest normal one.
    unit = np.ldexp(1.0, np.maximum(exponent, -125) - 11)
    return canonical(np.where(np.isfinite(exact), np.rint(exact / unit) * unit, exact).astype(np.float32))


def decode(dtype, raw):
    """Raw elements as float32."""
    raw = np.ascontiguousarray(raw, dtype=word(dtype))
    if dtype == "f32":
        return raw.view(np.float32)
    if dtype == "tf32":
        return round_tf32(raw.view(np.float32))
    if dtype in SMALL_FLOATS:
        return canonical(raw.view(SMALL_FLOATS[dtype]).astype(np.float32))
    return raw.view(INTS.get(dtype, np.uint8)).astype(np.float32)


def encode(dtype, values):
    """float32 as raw elements: to nearest even, saturating into integers, NaN to 0 there."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    if dtype == "f32":
        return canonical(values).view(np.uint32)
    if dtype == "tf32":
        return round_tf32(values).view(np.uint32)
    if dtype in SMALL_FLOATS:
        raw = values.astype(SMALL_FLOATS[dtype]).view(word(dtype))
        return np.where(np.isnan(values), word(dtype)(NAN[dtype]), raw).astype(word(dtype))
    if dtype == "bool":
        return (values != 0).astype(np.uint8)
    limits = np.iinfo(INTS[dtype])
    number = np.where(np.isnan(values), 0.0, values.astype(np.float64))
    return np.clip(np.rint(number), limits.min, limits.max).astype(INTS[dtype]).view(word(dtype))


def encode_integers(dtype, values):
    """Exact integers as raw elements: integers saturate. The other types go through float32; the device rounds once, and
    none of the values here meets a second rounding that shows."""
    if dtype in INTS:
        limits = np.iinfo(INTS[dtype])
        return np.clip(values, limits.min, limits.max).astype(INTS[dtype]).view(word(dtype))
    return encode(dtype, values.astype(np.float32))


def convert(source, target, raw):
    """A copy: bits between equal types, else through float32."""
    return raw if source == target else encode(target, decode(source, raw))


def edges(dtype, count):
    """Raw elements that are easy to get wrong: at most `count`, the most important first."""
    if dtype == "bool":
        return np.array([0, 1], dtype=np.uint8)
    if dtype in INTS:
        limits = np.iinfo(INTS[dtype])
        wanted = [0, 1, limits.max, limits.min, -1, 2, 3, 2**24 + 1, limits.max - 1, limits.min + 1, 100, -100]
        wanted += [2**24 - 1, -(2**24) - 1, 2**31, 255, 256, -128, 7, 31, 32, 15, 16, 8, 2**30, 65535, 32768, -32768]
        fitting = [it for it in wanted if limits.min <= it <= limits.max]
        return np.array(list(dict.fromkeys(fitting))[:count], dtype=INTS[dtype]).view(word(dtype))
    values = [0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -0.0, 1.5, -2.5, 0.5, 3.0, 1e30, -1e30, 1e-30, 3e9, 240.0]
    values += [-0.75, 448.0, 65504.0, 65520.0, 3.4028235e38, 1.1754944e-38, 1e-45, -1e-45, 2.0, 1e-3, 16777217.0, 7.5]
    raw = encode(dtype, np.array(values, dtype=np.float32))
    return raw[np.sort(np.unique(raw, return_index=True)[1])][:count]
