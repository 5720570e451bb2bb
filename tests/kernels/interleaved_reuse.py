"""Tiles of changing sizes over the bytes of a dead tile that was read in interleaved parts: however often, the proof of the
order takes no more memory."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


# nk: run reuse(w=f32[128,1152]:randn(1))
# nk: expect reuse_reference
@nki.jit
def reuse(w):
    out = nl.ndarray((128, 128), dtype=w.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((128, 128), dtype=w.dtype, buffer=nl.sbuf, address=(0, 0))
    nisa.memset(dst=total, value=0.0)
    weights = nl.ndarray((128, 128, 9), dtype=w.dtype, buffer=nl.sbuf, address=(0, 512))
    nisa.dma_copy(dst=weights.reshape((128, 1152)), src=w)
    for k in range(9):
        nisa.tensor_tensor(dst=total, data1=total, data2=weights[:, :, k], op=nl.add)
    for _ in range(20):
        for n_tiles in (9, 2):
            size = 1152 // n_tiles
            tiles = []
            for k in range(n_tiles):
                tile = nl.ndarray((128, size), dtype=w.dtype, buffer=nl.sbuf, address=(0, 512 + 4 * k * size))
                nisa.dma_copy(dst=tile, src=w[:, k * size:(k + 1) * size])
                tiles.append(tile)
            for tile in tiles:
                nisa.tensor_tensor(dst=total, data1=total, data2=tile[:, 0:128], op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


def reuse_reference(w):
    total = np.zeros((128, 128), np.float32)
    for k in range(9):
        total = total + w.reshape(128, 128, 9)[:, :, k]
    for _ in range(20):
        for n_tiles in (9, 2):
            for tile in np.split(w, n_tiles, axis=1):
                total = total + tile[:, 0:128]
    return total
