# nk: run kernel(x=f32[128,64]:uniform(300,400,0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=nl.uint8, buffer=nl.shared_hbm)
    tile = nl.load(x)
    bytes_ = nl.ndarray(x.shape, dtype=nl.uint8, buffer=nl.sbuf)
    nisa.tensor_copy(dst=bytes_, src=tile)  # error: trapped-range
    nl.store(out, value=bytes_)
    return out
