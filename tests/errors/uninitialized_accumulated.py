# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    fresh = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    copy = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    add, cmd = nl.add, nisa.reduce_cmd
    nisa.activation(copy, nl.copy, fresh, reduce_op=add, reduce_cmd=cmd.reset_reduce)  # error: uninitialized-read
    nisa.activation(copy, nl.copy, tile, reduce_op=add, reduce_cmd=cmd.reduce, reduce_res=total)
    nl.store(out, value=total)
    return out
