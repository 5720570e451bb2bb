# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((2, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    right = nl.load(b)
    sums = nl.ndarray((2, nl.par_dim(128), 512), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=7, num_bank_tiles=(2,)))  # error: bad-allocation
    for i in nl.affine_range(2):
        sums[i] = nisa.nc_matmul(left, right)
        nl.store(out[i], value=nl.copy(sums[i]))
    return out
