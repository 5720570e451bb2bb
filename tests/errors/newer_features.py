# nk: run instructions(x=f32[128,64]:randn(0))
# nk: run priorities(x=f32[128,64]:randn(0))
# nk: run descriptors(x=f32[128,64]:randn(0))
# nk: run queues(x=f32[128,64]:randn(0))
# nk: run modes(x=bf16[128,64]:randn(0))
# nk: run tiles(x=bf16[128,64]:randn(0))
# nk: run copies(x=f32[128,64]:randn(0))
# nk: run numbers(x=f32[128,64]:randn(0))
# nk: run operators(x=f32[128,64]:randn(0))
# nk: run slopes(x=f32[128,64]:randn(0))
# nk: run positions(x=f32[128,64]:randn(0))
# nk: run indirection(x=f32[128,64]:randn(0))
# nk: run old_names(x=f32[128,64]:randn(0))
# nk: run old_keywords(x=bf16[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def instructions(x):
    nisa.range_select(nl.load(x))  # error: not-on-this-target


@nki.jit
def priorities(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, priority=1)  # error: not-on-this-target


@nki.jit
def descriptors(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, dge_mode=nisa.dge_mode.hwdge)  # error: not-on-this-target


@nki.jit
def queues(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x, engine=nisa.engine.scalar)  # error: not-on-this-target


@nki.jit
def modes(x):
    tile = nl.load(x)
    dst = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst, tile, tile, perf_mode=nisa.matmul_perf_mode.double_row)  # error: not-on-this-target


@nki.jit
def tiles(x):
    out = nl.ndarray((32, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    dst = nl.ndarray((32, 64), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst, tile[0:32, 0:32], tile[0:32, :], tile_position=(0, 0), tile_size=(32, 32))  # error: pe-tile-size
    nl.store(out, nl.copy(dst))
    return out


@nki.jit
def copies(x):
    tile = nl.load(x)
    nisa.tensor_copy(tile, tile, engine=nisa.engine.scalar)  # error: not-on-this-target


@nki.jit
def numbers(x):
    tile = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.rng(tile, engine=nisa.engine.gpsimd)  # error: not-on-this-target


@nki.jit
def operators(x):
    tile = nl.load(x)
    nisa.tensor_scalar(tile, tile, op0=nl.square, operand0=None)  # error: not-on-this-target


@nki.jit
def slopes(x):
    tile = nl.load(x)
    nisa.activation(tile, op=nl.prelu, data=tile)  # error: not-on-this-target


@nki.jit
def positions(x):
    tile, vals = nl.load(x), nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_match_replace8(tile, tile, vals, 0.0, dst_idx=vals)  # error: not-on-this-target


@nki.jit
def indirection(x):
    nl.load(x).indirect(0)  # error: not-on-this-target


@nki.jit
def old_names(x):
    nisa.builtin_custom_op("name", x)  # error: unsupported-syntax


@nki.jit
def old_keywords(x):
    tile = nl.load(x)
    dst = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst, tile, tile, psum_accumulate_flag=3)  # error: unsupported-syntax
