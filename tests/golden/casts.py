"""Every cast: all codes of 8-bit types and edge values of 32-bit ones in full, all codes of 16-bit types as checksums."""

import numpy as np

from formats import DTYPES, INTS, SMALL_FLOATS, convert, f32, size, word
from program import Program

# Elements that share a checksum.
BLOCK = 4096


def interesting_floats(rng):
    """Values at, between and beside representable ones of every format, and all special cases."""
    values = [f32([0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 1, 0x80000001])]
    values.append(f32([0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F7FFF, 0x7F7F8000, 0x7F7F8001]))
    values.append(f32([0x3F801000, 0x3F803000, 0x3F800FFF, 0x3F801001, 0x7F7FEFFF, 0x7F7FF000, 0x00001000, 0x00003000]))
    for dtype in SMALL_FLOATS.values():
        wide = np.uint16 if np.dtype(dtype).itemsize == 2 else np.uint8
        codes = rng.integers(0, 1 << (8 * np.dtype(wide).itemsize), 24).astype(wide)
        exact = codes.view(dtype).astype(np.float32)
        following = (codes + 1).astype(wide).view(dtype).astype(np.float32)
        tie = (exact.astype(np.float64) / 2 + following.astype(np.float64) / 2).astype(np.float32)
        for it in (exact, tie):
            values += [it, np.nextafter(it, np.float32(np.inf)), np.nextafter(it, np.float32(-np.inf))]
    for edge in (127, 128, 255, 256, 32767, 65535, 2**31, 2**32, 2**24):
        for delta in (-1.5, -0.5, 0, 0.5, 1.5):
            values.append(np.float32([edge + delta, -edge + delta]))
    values.append(np.arange(-8, 9, dtype=np.float32) / 2)
    values.append(np.float32([3e9, -3e9]))
    values.append(f32(rng.integers(0, 1 << 32, 100)))
    return np.concatenate(values).view(np.uint32)


def interesting_words(dtype, rng):
    """Raw elements of a 32-bit type."""
    if dtype in ("f32", "tf32"):
        return interesting_floats(rng)
    powers = [1 << bit for bit in range(32)]
    near = [(it + delta) & 0xFFFFFFFF for it in powers for delta in (-1, 0, 1)]
    negative = [-it & 0xFFFFFFFF for it in near]
    return np.concatenate([np.array(near + negative, dtype=np.uint32), rng.integers(0, 1 << 32, 60).astype(np.uint32)])


def checksums(raw):
    """One number for each block: sum of (element + 1) * 6364136223846793005^(elements behind it), modulo 2^64."""
    blocks = raw.astype(np.uint64).reshape(-1, BLOCK)
    sums = np.zeros(len(blocks), dtype=np.uint64)
    for idx in range(BLOCK):
        sums = sums * np.uint64(6364136223846793005) + blocks[:, idx] + np.uint64(1)
    return sums


def files():
    rng = np.random.default_rng(20240229)
    program = Program("casts", "Every cast from all codes of 8-bit types, and from edge values of 32-bit types, by DMA.")
    for source in DTYPES:
        if size(source) == 1:
            raw = np.arange(2 if source == "bool" else 256, dtype=np.uint8)
        elif size(source) == 4:
            raw = interesting_words(source, rng)
        else:
            continue
        name = program.hbm(source, raw)
        for target in DTYPES:
            if target != source:
                program.expect_hbm(target, convert(source, target, raw), f"dma_copy {name}")
    # For each 16-bit type, for each other type: one number a block.
    codes = np.arange(1 << 16, dtype=np.uint16)
    sums = []
    for source in DTYPES:
        for target in DTYPES:
            if size(source) == 2 and target != source:
                sums.append(checksums(convert(source, target, codes)))
    return {**program.files(), "casts_of_16_bits.bin": np.concatenate(sums).astype("<u8").tobytes()}
