"""Views of tensors: every method of a tensor, checked against NumPy's idea of it."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def stored(view):
    """Writes a view of a tile to a fresh result of the view's shape."""
    out = nl.ndarray(view.shape, dtype=view.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=view)
    return out


# nk: run slices(x=f32[32,6,8]:arange)
# nk: expect slices_reference rtol=0
@nki.jit
def slices(x):
    tile = nl.load(x)
    a = stored(tile[:, 1:5, 2:8:3])
    b = stored(tile[4:20, ..., 0:4])
    c = stored(tile[:, -1])
    d = stored(tile[:, :, nl.ds(2, 3)])
    e = stored(tile.slice(1, 0, 6, 2))
    f = stored(tile.select(2, -2))
    return a, b, c, d, e, f


def slices_reference(x):
    return x[:, 1:5, 2:8:3], x[4:20, ..., 0:4], x[:, -1], x[:, :, 2:5], x[:, 0:6:2], x[:, :, -2]


# nk: run shapes(x=f32[16,24]:arange)
# nk: expect shapes_reference rtol=0
@nki.jit
def shapes(x):
    tile = nl.load(x)
    a = stored(tile.reshape((16, 2, 12)))
    b = stored(tile.reshape((16, 4, -1)).permute((0, 2, 1)))
    c = stored(tile.reshape_dim(1, (3, 8)).flatten_dims(1, 2))
    d = stored(tile[:, 0:1].broadcast(1, 5))
    e = stored(tile.expand_dim(1))
    f = stored(tile.expand_dim(2).squeeze_dim(2))
    g = stored(tile.rearrange(("p", ("a", "b")), ("p", "b", "a"), {"a": 4}))
    h = stored(tile[:, 0:8].reshape((16, 4, 2))[:, 1])
    return a, b, c, d, e, f, g, h


def shapes_reference(x):
    return (
        x.reshape(16, 2, 12),
        x.reshape(16, 4, 6).transpose(0, 2, 1),
        x,
        np.broadcast_to(x[:, 0:1], (16, 5)),
        x.reshape(16, 1, 24),
        x,
        x.reshape(16, 4, 6).transpose(0, 2, 1),
        x[:, 2:4],
    )


# nk: run patterns(x=f32[8,36]:arange)
# nk: expect patterns_reference rtol=0
@nki.jit
def patterns(x):
    tile = nl.load(x)
    windows = tile.ap([[36, 8], [12, 3], [2, 3], [6, 2], [1, 2]])
    assert windows.shape == (8, 3, 3, 2, 2)
    offset = tile.ap([[36, 4], [2, 5]], offset=36 * 2 + 3)
    reversed_row = tile.ap([[36, 8], [-1, 36]], offset=35)
    words = tile.view(nl.int32)
    assert words.get_pattern() == [[36, 8], [1, 36]] and words.is_contiguous() and not words.is_indirect()
    return stored(windows), stored(offset), stored(reversed_row), stored(words.view(nl.float32))


def patterns_reference(x):
    windows = x.reshape(8, 3, 2, 3, 2).transpose(0, 1, 3, 2, 4)
    return windows, x[2:6, 3:13:2], x[:, ::-1], x


# nk: run attributes(x=bf16[64,4,8]:zeros)
# nk: expect attributes_reference rtol=0
@nki.jit
def attributes(x):
    assert x.shape == (64, 4, 8) and x.dtype == nl.bfloat16 and x.ndim == 3 and x.size == 2048
    tile = nl.ndarray((64, 4, 8), dtype=x.dtype, buffer=nl.sbuf, name="tile")
    assert tile.buffer == nl.sbuf and tile.strides == (32, 8, 1) and tile.offset == 0
    assert tile[2:4, 1].offset == 2 * 32 + 8 and tile[0].shape == (1, 4, 8) and tile[0, 1, 2].shape == (1, 1)
    assert x[0].shape == (4, 8) and x[0, 1, 2].shape == (1,)
    nisa.dma_copy(dst=tile, src=x)
    return stored(tile)


def attributes_reference(x):
    return x


# nk: run hbm_views(x=f32[6,4,10]:arange)
# nk: expect hbm_views_reference rtol=0
@nki.jit
def hbm_views(x):
    """Views of tensors in HBM have no partition dimension: everything can move."""
    a = stored(nl.load(x.permute((2, 0, 1))))
    b = stored(nl.load(x.reshape((24, 10))))
    c = stored(nl.load(x[3]))
    d = stored(nl.load(x[1:5, 2, ::2]))
    e = stored(nl.load(x.ap([[10, 4], [1, 3]], offset=41)))
    return a, b, c, d, e


def hbm_views_reference(x):
    return x.transpose(2, 0, 1), x.reshape(24, 10), x[3], x[1:5, 2, ::2], x[1, :, 1:4]
