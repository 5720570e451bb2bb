# nk: run kernel(x=f32[3,128,16384]:randn(0))
# From byte 65 536 on there is room for two tiles of 64 KiB; the third place lies beyond the partition.
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((3, nl.par_dim(128), 16384), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=65536, num_free_tiles=(3,)))  # error: address-out-of-range
    for i in nl.affine_range(3):
        tiles[i] = nl.load(x[i])
        nl.store(out[i], value=tiles[i])
    return out
