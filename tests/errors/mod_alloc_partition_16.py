# nk: run kernel(x=f32[64,64]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((nl.par_dim(64), 64), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, base_partition=16))  # error: address-start-partition
    tile[...] = nl.load(x)
    nl.store(out, value=tile)
    return out
