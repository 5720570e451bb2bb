"""Writes the tensor files beside it. Run once, with numpy, ml_dtypes and safetensors installed.

Every array is 0, 1, 2, … in row-major order, minus 2 where the dtype has a sign.
"""

import pathlib

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).parent
signed = np.arange(6).reshape(2, 3) - 2
unsigned = np.arange(6).reshape(2, 3)


def npy(name, array):
    np.save(HERE / f"{name}.npy", array)


for name, dtype in [("f32", "<f4"), ("f16", "<f2"), ("f64", "<f8"), ("i8", "i1"), ("i16", "<i2"), ("i32", "<i4"), ("i64", "<i8")]:
    npy(name, signed.astype(dtype))
for name, dtype in [("u8", "u1"), ("u16", "<u2"), ("u32", "<u4")]:
    npy(name, unsigned.astype(dtype))
npy("bf16", signed.astype(ml_dtypes.bfloat16))
npy("e4m3", signed.astype(ml_dtypes.float8_e4m3))
npy("e5m2", signed.astype(ml_dtypes.float8_e5m2))
npy("e3m4", signed.astype(ml_dtypes.float8_e3m4))
npy("f32_big_endian", signed.astype(">f4"))
npy("f32_fortran", np.asfortranarray(signed.astype("<f4")))
npy("bool", np.array([True, False, True]))
npy("scalar", np.float32(7))
npy("empty", np.zeros((0, 3), np.float32))
npy("i64_large", np.array([1, 1 << 40]))
with open(HERE / "f32_version_2.npy", "wb") as file:
    np.lib.format.write_array(file, signed.astype("<f4"), version=(2, 0))
np.savez(HERE / "stored.npz", a=signed.astype("<f4"))
np.savez_compressed(HERE / "deflated.npz", a=signed.astype("<f4"), raw=signed.astype(ml_dtypes.bfloat16))
save_file(
    {
        "f32": signed.astype("<f4"),
        "bf16": signed.astype(ml_dtypes.bfloat16),
        "e4m3": signed.astype(ml_dtypes.float8_e4m3fn),
        "e4m3fn_large": np.array([240, 256, -448], ml_dtypes.float8_e4m3fn),
        "i8": signed.astype("i1"),
        "i64": signed.astype("<i8"),
    },
    HERE / "all.safetensors",
)
