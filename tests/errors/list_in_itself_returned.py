# nk: run kernel(x=f32[128,4]:randn(0))
import nki


@nki.jit
def kernel(x):  # error: value-error
    results = []
    results.append(results)
    return results
