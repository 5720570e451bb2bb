# nk: run kernel(x=f32[64,32]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.ones((128, 32), dtype=x.dtype))
    index = nisa.iota(2 * nl.arange(64)[:, None], dtype=nl.int32)
    nisa.dma_copy(dst=out[index, nl.arange(32)[None, :]], src=nl.load(x), dst_rmw_op=nl.multiply)  # error: wrong-operand
    return out
