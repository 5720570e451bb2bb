import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[4,4]:ones)
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.shared_constant("constant_of_many_dimensions.npy")  # error: file-unreadable
    nisa.dma_copy(dst=out, src=x)
    return out
