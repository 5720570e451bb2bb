# nk: run kernel(x=f32[128,4]:randn(0))
import itertools
import nki
import nki.language as nl
import nki.isa as nisa


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, x)
    for pair in itertools.permutations(range(100000), 2):  # error: value-error
        print(pair)
    return out
