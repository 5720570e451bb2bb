# nk: run kernel(x=f32[128,4]:randn(0))
import nki
import nki.language as nl
import nki.isa as nisa


@nki.jit
def kernel(x):
    # 2^62 rows of 4 elements are 2^64 elements, which wrap to none.
    part = x.ap([[4, 128], [1, 4]], scalar_offset=4611686018427387904, indirect_dim=0)  # error: out-of-bounds
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, part)
    return out
