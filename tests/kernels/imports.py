"""Imports of sibling files, of parts of them, and of modules that exist nowhere but are not used."""
import torch
import shared.tiles as tiles
from math import ceil as round_up
from shared import tiles as again
from shared.tiles import FACTOR, scaled_reference

import nki
import nki.isa as nisa
import nki.language as nl

device = torch.device("cpu")
ROWS = round_up(FACTOR * 10)


# nk: run imports(x=f32[64,16]:randn(0))
# nk: expect imports_reference rtol=1e-6
@nki.jit
def imports(x):
    assert ROWS == 30 and again.FACTOR == FACTOR
    first, second = tiles.scaled(x), again.scaled(x, factor=0.5)
    results = []
    for tile in (first, second):
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        results.append(out)
    return tuple(results)


def imports_reference(x):
    return scaled_reference(x), scaled_reference(x, 0.5)
