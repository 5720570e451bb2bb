# nk: run kernel(x=f32[2,2,128,64]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((2, 2, nl.par_dim(128), 64), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))  # error: bad-allocation
    for i in nl.affine_range(2):
        for j in nl.affine_range(2):
            tiles[i, j] = nl.load(x[i, j])
            nl.store(out[i, j], value=tiles[i, j])
    return out
