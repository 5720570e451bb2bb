"""Constants in HBM, identity matrices, and the queries that are answered while compiling."""
import nki
import nki.language as nl
import numpy as np


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=tile)
    return out


# nk: run constants(x=f32[64,64]:randn(0))
# nk: expect constants_reference rtol=0
@nki.jit
def constants(x):
    ramp = nl.shared_constant(np.arange(96, dtype=np.int32).reshape(8, 12) * 1000003)
    half = nl.shared_constant(np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32), dtype=nl.bfloat16)
    file = nl.shared_constant("nl_constants.npy")
    again = nl.shared_constant(np.arange(96, dtype=np.int32).reshape(8, 12) * 1000003)
    assert ramp.buffer == nl.shared_hbm and half.dtype == nl.bfloat16 and file.dtype == nl.float32
    bytes_ = nl.load(nl.shared_constant(np.identity(16, dtype=np.int8)))
    product = nl.matmul(nl.shared_identity_matrix(64, dtype=nl.float32), nl.load(x), transpose_x=True)
    eight, small = nl.shared_identity_matrix(8), nl.shared_identity_matrix(n=16, dtype=nl.float32)
    return (
        stored(nl.add(nl.load(ramp), nl.load(again))),
        stored(nl.load(half)),
        stored(bytes_),
        stored(nl.copy(product)),
        stored(eight),
        stored(small),
        stored(nl.load(file.reshape((1, file.size)))),
    )


def constants_reference(x):
    import ml_dtypes

    ramp = np.arange(96).reshape(8, 12) * 1000003
    half = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32).astype(ml_dtypes.bfloat16)
    file = np.array([[-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]], dtype=np.float32)
    return ramp * 2, half, np.identity(16), x, np.identity(8), np.identity(16), file


# nk: run queries(x=f32[128,64]:randn(0))
# nk: expect queries_reference rtol=0
@nki.jit
def queries(x):
    size = nl.tile_size
    assert size.pmax == 128 and size.psum_bank_fmax == 512 and size.psum_fmax == 512
    assert size.psum_bank_fmax_bytes == 2048 and size.psum_num_banks == 8
    assert size.gemm_stationary_fmax == 128 and size.gemm_moving_fmax == 512 and size.bn_stats_fmax == 512
    assert size.sbuf_size_bytes == 25165824 and size.psum_min_align == 4 and size.sbuf_min_align == 4
    assert nl.is_hbm(nl.hbm) and nl.is_hbm(x.buffer) and nl.is_hbm(nl.private_hbm) and not nl.is_hbm(nl.sbuf)
    assert nl.is_sbuf(nl.sbuf) and nl.is_psum(nl.psum) and not nl.is_psum(nl.sbuf)
    assert nl.is_on_chip(nl.psum) and nl.is_on_chip(nl.sbuf) and not nl.is_on_chip(nl.shared_hbm)
    assert nl.program_id() == 0 and nl.num_programs(axes=0) == 1 and nl.program_ndim() == 0
    with nl.no_reorder():
        tile = nl.load(x)
        result = stored(tile)
    named = nl.full((128, 8), 2.5, dtype=nl.bfloat16, buffer=nl.psum, name="half")
    fixed = nl.ndarray((64, 8), dtype=nl.bfloat16, buffer=nl.sbuf, name="fixed", address=(64, 4096))
    assert named.name == "half" and named.buffer == nl.psum and fixed.name == "fixed"
    like = nl.empty_like(fixed, dtype=nl.float32)
    assert like.shape == (64, 8) and like.dtype == nl.float32 and nl.zeros_like(named, buffer=nl.sbuf).buffer == nl.sbuf
    return result, stored(nl.copy(named))


def queries_reference(x):
    return x, np.full((128, 8), 2.5)
