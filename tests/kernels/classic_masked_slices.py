"""Slices that reach beyond a tensor: legal in a call whose mask keeps them inside."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run kernel(x=f32[150,8,6]:randn(0))
# nk: expect kernel_reference
@nki.jit
def kernel(x):
    out = nl.ndarray((150, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    n_rows = x.shape[0]
    i_p, i_h, i_w = nl.arange(128)[:, None, None], nl.arange(8)[None, :, None], nl.arange(6)[None, None, :]
    for i in nl.affine_range(2):
        inside = (i * 128 + i_p < n_rows) & (i_h < 8) & (i_w < 6)
        tile = nl.zeros((nl.par_dim(128), 8, 6), dtype=x.dtype, buffer=nl.sbuf)
        # The second block reaches to row 256 of 150.
        nisa.dma_copy(src=x[i * 128 : i * 128 + 128, 0:8, 0:6], dst=tile[:, 0:8, 0:6], mask=inside)
        total = nl.sum(tile, axis=[1, 2])
        nl.store(out[i * 128 : i * 128 + 128, 0:1], total, mask=(i * 128 + nl.arange(128)[:, None] < n_rows))
    return out


def kernel_reference(x):
    return np.sum(x, axis=(1, 2))[:, None]
