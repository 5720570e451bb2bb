# nk: run kernel(x=f32[128,64]:randn(0))
# A sum needs a first value.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(4):
        nisa.tensor_tensor(dst=total, data1=total, data2=nl.load(x), op=nl.add)  # error: uninitialized-read
    nl.store(out, value=total)
    return out
