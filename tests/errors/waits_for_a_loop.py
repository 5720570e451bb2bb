import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[128,64]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    inside = []

    def body(_):
        inside.append(nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0))

    nl.fori_loop(0, 4, body)
    nisa.dma_copy(dst=out, src=tile).depends_on(inside[0])  # error: value-error
    return out
