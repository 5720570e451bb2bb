"""Packages: names that `__init__.py` gives on, relative and absolute imports, a folder without `__init__.py` inside one."""
import nki
import nki.language as nl
import package.kernels.relative as inner
from package import numbers, scaled


# nk: run packages(x=f32[64,32]:randn(0))
# nk: expect packages_reference
@nki.jit
def packages(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, value=nl.add(inner.tripled(tile), nl.multiply(scaled(tile), numbers.DOUBLE)))
    return out


def packages_reference(x):
    return 9.0 * x
