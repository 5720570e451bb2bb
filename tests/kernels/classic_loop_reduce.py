"""`nl.loop_reduce` in a helper reduces over the loop whose variable the caller passes, whatever it is called there."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


def add_part(total, tile, part):
    total[:, :] = nl.loop_reduce(tile, op=np.add, loop_indices=(part,), dtype=nl.float32)


def add_nested(total, tile, k):
    # The loop of this function is no loop of the caller, though both name their variable `i`.
    for i in nl.affine_range(2):
        renamed = k
        add_part(total[i], tile, part=renamed)


# nk: run summed(x=f32[3,4,64,16]:randn(0))
# nk: expect summed_reference
@nki.jit
def summed(x):
    out = nl.ndarray((3, 3, 64, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(3):
        once = nl.ndarray((nl.par_dim(64), 16), dtype=nl.float32)
        twice = nl.ndarray((2, nl.par_dim(64), 16), dtype=nl.float32)
        for j in nl.affine_range(4):
            tile = nl.load(x[i, j])
            add_part(once, tile, j)
            add_nested(twice, tile, k=j)
        nl.store(out[0, i], once)
        nl.store(out[1, i], twice[0])
        nl.store(out[2, i], twice[1])
    return out


def summed_reference(x):
    total = np.sum(x, axis=1)
    return np.stack([total, total, total])
