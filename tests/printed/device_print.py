"""Tiles printed while the kernel runs: in program order, as they were at that point, whatever order is executed."""
import nki
import nki.isa as nisa
import nki.language as nl


# nk: run shown(x=f32[4,6]:arange)
@nki.jit
def shown(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.device_print("the argument", x)
    tile = nl.load(x)
    for step in range(2):
        nl.device_print(f"before step {step}", tile[0:2, 1:6:2])
        nisa.tensor_scalar(tile, tile, op0=nl.multiply, operand0=-0.5)
    nl.device_print("", nl.copy(tile, dtype=nl.int8))
    acc = nl.zeros((4, 2), dtype=nl.float32, buffer=nl.psum)
    nl.device_print("psum", acc)
    nl.store(out, tile)
    print("while compiling")
    return out
