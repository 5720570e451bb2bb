# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((32, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    part = nl.ndarray((32, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=part, src=tile[48:80, :])  # error: start-partition
    nl.store(out, value=part)
    return out
