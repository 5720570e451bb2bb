# nk: run kernel(x=f32[128,16384]:randn(0))
# Loaded all at once and used once each.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.load(x) for _ in range(4)]  # error: sbuf-over-capacity
    total = nl.add(nl.add(tiles[0], tiles[1]), nl.add(tiles[2], tiles[3]))
    nl.store(out, value=total)
    return out
