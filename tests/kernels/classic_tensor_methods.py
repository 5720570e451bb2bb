"""What a tensor of the classic style has besides views: a copy as another dtype, its item size, an asserted shape, an axis
more."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


# nk: run methods(x=bf16[128,64]:randn(3))
# nk: expect methods_reference
@nki.jit
def methods(x):
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x).assert_shape((128, 64))
    assert x.itemsize == 2 and tile.astype(np.float32).itemsize == 4
    wide = tile.astype(nl.float32)
    nl.store(out, nl.sum(wide.expand_dims(1), axis=1) + wide)
    return out


def methods_reference(x):
    wide = x.astype(np.float32)
    return wide + wide
