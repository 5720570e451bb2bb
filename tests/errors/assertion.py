# nk: run kernel(x=f32[128,500]:randn(0))
import nki
import nki.language as nl

TILE = 128


@nki.jit
def kernel(x):
    rows, columns = x.shape
    assert columns % TILE == 0, f"columns ({columns}) must be a multiple of {TILE}"  # error: assertion-failed
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.load(x))
    return out
