"""Python around the instructions: iteration helpers, exceptions and contexts that are decided, star-arguments, walrus, kernels
below module-level conditions, tables that calls at module level build, operators on tiles in the current style."""
import contextlib
import math
from typing import Callable, Optional

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def powers(base, count):
    return {f"p{i}": base**i for i in range(count)}


TABLE = powers(2.0, 4)
WIDTHS = tuple(sorted([16, 48], reverse=True))

try:
    import a_library_that_nobody_has
except ImportError:
    a_library_that_nobody_has = None

if a_library_that_nobody_has is None:

    # nk: run helpers(x=f32[64,64]:randn(0))
    # nk: expect helpers_reference
    @nki.jit
    def helpers(x, scale: Optional[float] = None, op: Callable = nl.add):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        start = 0
        for number, (width, factor) in enumerate(zip(WIDTHS, (TABLE["p2"], TABLE["p3"]))):
            tile = nl.load(x[:, start:(stop := start + width)])
            assert all(it > 0 for it in (width, factor)) and any([number == 0, number == 1])
            rows, rest = divmod(width, 5)
            tile = nl.multiply(tile, factor + rows + rest)
            if scale is not None:
                tile = nl.multiply(tile, scale)
            nl.store(out[:, start:stop], value=op(tile, math.ceil(sum([0.25, 0.5]))))
            start = stop
        return out

    def helpers_reference(x):
        return np.concatenate([x[:, :48] * (4.0 + 9 + 3) + 1, x[:, 48:] * (8.0 + 3 + 1) + 1], axis=1)


def width_of(kind):
    if kind not in ("narrow", "wide"):
        raise ValueError(f"no such kind: {kind!r}")
    return 16 if kind == "narrow" else 64


def total(first, *others, bias=0.0, **options):
    for other in others:
        first = nl.add(first, other)
    return nl.add(first, bias + sum(options.values()))


# nk: run decided(x=f32[64,64]:randn(0))
# nk: expect decided_reference
@nki.jit
def decided(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    try:
        width = width_of("broad")
    except ValueError as error:
        assert "broad" in str(error)
        width = width_of("wide")
    with contextlib.nullcontext():
        tile = nl.load(x[:, 0:width])
    parts = [tile, *[nl.exp(tile)] * 2]
    nl.store(out, value=total(*parts, bias=1.0, **{"one": 1.0, "half": 0.5}))
    return out


def decided_reference(x):
    return x + 2 * np.exp(x) + 2.5


# nk: run operators(a=bf16[2,128,64]:randn(0), b=bf16[2,128,32]:randn(1))
# nk: expect operators_reference
@nki.jit
def operators(a, b):
    out = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
    psum = nl.zeros((64, 32), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(2):
        psum += nl.matmul(nl.load(a[k]), nl.load(b[k]), transpose_x=True)
    tile = nl.copy(psum)
    tile *= 0.5
    nl.store(out, value=1.0 - tile * tile)
    return out


def operators_reference(a, b):
    half = 0.5 * np.einsum("kpm,kpn->mn", a, b)
    return 1.0 - half * half
