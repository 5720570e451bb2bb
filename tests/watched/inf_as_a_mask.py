# nk: run kernel(x=f32[128,64]:randn(0))
# An infinity that the kernel writes by name is meant, and so is what comes of it.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)  # warning: vacuous-result
    tile = nl.load(x)
    low = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=low, value=float("-inf"))
    nl.store(out, value=nl.exp(nl.maximum(nl.add(low, tile), low)))
    return out
