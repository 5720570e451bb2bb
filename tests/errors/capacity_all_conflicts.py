# nk: run kernel(x=f32[128,30000]:randn(0))
# Two results at a time are one too many, wherever they are.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    b = nl.exp(a)  # error: sbuf-over-capacity
    c = nl.tanh(a)  # error: sbuf-over-capacity
    d = nl.add(nl.add(b, c), a)  # error: sbuf-over-capacity # error: sbuf-over-capacity
    nl.store(out, value=d)
    return out
