# nk: run kernel(x=f32[4,128,64]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    state = nl.zeros((nl.par_dim(128), 64), dtype=x.dtype, buffer=nl.sbuf)
    total = nl.zeros((nl.par_dim(128), 64), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.affine_range(4):
        tile = nl.load(x[i])
        # What each iteration makes of the state of the one before is a dependence; the sum is not.
        state[...] = nl.subtract(tile, state)  # warning: carried-dependence
        total += tile
    nl.store(out, nl.add(state, total))
    return out
