# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.language as nl


class TooWide(ValueError):
    pass


def check(columns):
    if columns > 32:
        raise TooWide(f"{columns} columns; at most 32")  # error: kernel-raised


@nki.jit
def kernel(x):
    try:
        check(x.shape[1])
    except KeyError:
        pass
    return x
