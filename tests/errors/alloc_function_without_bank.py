# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


def place(index, partitions, n_bytes):
    return 0, 2048


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((nl.par_dim(128), 512), dtype=nl.float32, buffer=ncc.psum.alloc(place))  # error: bad-allocation
    sums[...] = nisa.nc_matmul(nl.load(a), nl.load(b))
    nl.store(out, value=nl.copy(sums))
    return out
