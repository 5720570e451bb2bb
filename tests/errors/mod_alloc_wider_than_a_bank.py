# nk: run kernel(x=f32[128,1024]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    wide = nl.ndarray((nl.par_dim(128), 1024), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=0))  # error: bad-allocation
    wide[...] = nl.copy(nl.load(x))
    nl.store(out, value=nl.copy(wide))
    return out
