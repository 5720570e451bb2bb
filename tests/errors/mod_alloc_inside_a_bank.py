# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,256]:randn(1))
# Part of a bank cannot be asked for: a tile in PSUM begins where a bank does.
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((nl.par_dim(128), 256), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=2, base_addr=1024))  # error: address-off-bank
    sums[...] = nisa.nc_matmul(nl.load(a), nl.load(b))
    nl.store(out, value=nl.copy(sums))
    return out
