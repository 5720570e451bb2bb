# nk: run kernel(x=f32[128,512]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt


@nki.jit
def kernel(x):
    tile: nt.tensor[128, 256] = nl.load(x)  # error: annotation-mismatch
    return tile
