# A tile == a number is compared element by element, and results have names of their own whatever they are called.
# nk: run kernel(x=f32[128,4]:arange)
# nk: expect reference
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


@nki.jit
def kernel(x):
    tile = nl.load(x)
    out1 = stored(tile == 3.0)
    return out1, stored(4.0 != tile)


def reference(x):
    return (x == 3.0).astype(np.float32), (x != 4.0).astype(np.float32)
