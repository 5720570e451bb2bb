"""Patterns of more dimensions than an engine walks: the instruction is taken apart, the values are the same."""
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


# nk: run corners(x=f32[64,3,4,5]:randn(0))
# nk: expect corners_reference
@nki.jit
def corners(x):
    """Every element of a volume becomes a weighted mean of itself and its neighbours, eight times."""
    out = nl.ndarray((64, 4, 6, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    result = nl.ndarray((64, 4, 6, 8), dtype=x.dtype, buffer=nl.sbuf)
    i_p, i, j, k, d, h, w = nl.mgrid[0:64, 0:2, 0:2, 0:2, 0:2, 0:3, 0:4]
    result[i_p, 2 * d + i, 2 * h + j, 2 * w + k] = (
        0.75 * tile[i_p, d + i, h + j, w + k] + 0.25 * tile[i_p, d + (-1 * i + 1), h + (-1 * j + 1), w + (-1 * k + 1)]
    )
    nl.store(out, result)
    return out


def corners_reference(x):
    out = np.zeros((64, 4, 6, 8))
    for i in range(2):
        for j in range(2):
            for k in range(2):
                near = x[:, i:i + 2, j:j + 3, k:k + 4]
                far = x[:, 1 - i:3 - i, 1 - j:4 - j, 1 - k:5 - k]
                out[:, i::2, j::2, k::2] = 0.75 * near + 0.25 * far
    return out
