import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[8,8]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    row = 0
    for _ in nl.dynamic_range(8):  # error: changed-in-device-loop
        nisa.dma_copy(dst=out[row:row + 1], src=x[row:row + 1])
        row += 1
    return out
