"""A mask as a subscript, `x[i_p, i_f][mask]`, cuts the view to the rectangle that it lets through."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run kernel(x=f32[64,100]:randn(0))
# nk: expect kernel_reference
@nki.jit
def kernel(x):
    out = nl.ndarray((64, 120), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:64, 0:60]
    tile = nl.load(x)
    for i in nl.affine_range(2):
        # The second part reaches beyond the tile; the mask brings it back.
        part = tile[i_p, i * 60 + i_f][i * 60 + i_f < 100][i < 2]
        nl.store(out[:, i * 60:i * 60 + part.shape[1]], nl.square(part))
    whole = tile[0:64, 0:60]
    i_q, i_g = nl.mgrid[0:64, 0:20]
    nl.store(out[:, 100:120], whole[i_q, i_g][i_g < 20])
    return out


def kernel_reference(x):
    return np.concatenate([np.square(x), x[:, :20]], axis=1)


# nk: run largest(x=f32[64,100]:randn(0))
# nk: expect largest_reference
@nki.jit
def largest(x):
    """The mask of max8 and of the searches is about the data, not about the eight values."""
    out = nl.ndarray((32, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    rest = nl.ndarray((32, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:64, 0:100]
    tile = nl.load(x)
    inside = (i_p < 32) & (i_f < 50)
    values = nisa.max8(src=tile[i_p, i_f], mask=inside)
    left = nisa.nc_match_replace8(data=tile[i_p, i_f], vals=values, imm=-9.0, mask=inside)
    nl.store(out, values[0:32])
    nl.store(rest, nisa.max8(src=left[0:32, 0:50]))
    return out, rest


def largest_reference(x):
    ordered = np.sort(x[:32, :50], axis=1)[:, ::-1]
    return ordered[:, 0:8], ordered[:, 8:16]
