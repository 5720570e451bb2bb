# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# Nine tiles of one bank each.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((9, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    right = nl.load(b)
    tiles = []
    for i in range(9):
        acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)  # error: psum-over-capacity
        nisa.nc_matmul(dst=acc, stationary=left, moving=right)
        tiles.append(acc)
    for i in range(9):
        nl.store(out[i], value=nl.copy(tiles[i]))
    return out
