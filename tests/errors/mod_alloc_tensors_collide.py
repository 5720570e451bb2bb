# nk: run kernel(a=f32[2,128,64]:randn(0), b=f32[2,128,64]:randn(1))
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((2, nl.par_dim(128), 64), dtype=a.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))
    right = nl.ndarray((2, nl.par_dim(128), 64), dtype=a.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))  # error: address-overlap
    for i in nl.affine_range(2):
        left[i] = nl.load(a[i])
        right[i] = nl.load(b[i])
        nl.store(out[i], value=nl.add(left[i], right[i]))
    return out
