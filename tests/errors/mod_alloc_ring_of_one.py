# nk: run kernel(x=f32[3,128,64]:randn(0))
# Each iteration reads the tile of the one before: a ring of one place is too small, one of two would do.
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((3, nl.par_dim(128), 64), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=512, num_free_tiles=(1,)))  # error: address-overlap
    tiles[0] = nl.load(x[0])
    for i in nl.sequential_range(2):
        tiles[i + 1] = nl.load(x[i + 1])
        nl.store(out[i], value=nl.add(tiles[i], tiles[i + 1]))
    return out
