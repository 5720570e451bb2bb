"""Tiles that the kernel places by a rule: rings of places, functions of the block index, and the compiler's choice."""
import functools
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run doubled(x=f32[4,128,8]:randn(0))
# nk: expect doubled_reference
# nk: snapshot placement
@nki.jit
def doubled(x):
    # Four tiles go round in two places, from byte 4096 on; their doubles lie in two halves of the partitions.
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(128), 8), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=4096, num_free_tiles=(2,)))
    halves = nl.ndarray(
        (8, nl.par_dim(64), 8),
        dtype=x.dtype,
        buffer=ncc.sbuf.mod_alloc(base_addr=0, num_par_tiles=(2,), num_free_tiles=(1,)),
    )
    for i in nl.affine_range(4):
        tiles[i] = nl.load(x[i])
        for j in nl.affine_range(2):
            halves[2 * i + j] = nl.multiply(tiles[i, 64 * j : 64 * j + 64], 2.0)
            nl.store(out[i, 64 * j : 64 * j + 64], value=halves[2 * i + j])
    return out


def doubled_reference(x):
    return x * 2.0


def banks(first, idx, pdim_size, fdim_size):
    """Even tiles in one bank, odd ones in the next but one."""
    assert (pdim_size, fdim_size) == (128, 256)
    return first + 2 * (idx[0] % 2), 0, 0


# nk: run products(a=bf16[4,128,128]:randn(0), b=bf16[128,64]:randn(1))
# nk: expect products_reference
# nk: snapshot placement
@nki.jit
def products(a, b):
    out = nl.ndarray((4, 128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    right = nl.ndarray((nl.par_dim(128), 64), dtype=b.dtype, buffer=ncc.sbuf.auto_alloc())
    right[...] = nl.load(b)
    sums = nl.ndarray(
        (4, nl.par_dim(128), 64), dtype=nl.float32, buffer=ncc.psum.alloc(functools.partial(banks, first=3))
    )
    copies = nl.zeros((4, nl.par_dim(128), 64), dtype=nl.float32, buffer=ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(2,)))
    for i in nl.affine_range(4):
        left = nl.load(a[i])
        sums[i] = nisa.nc_matmul(left, right)
        copies[i] += nisa.nc_matmul(left, right)
        nl.store(out[i], value=nl.add(sums[i], nl.copy(copies[i])))
    return out


def products_reference(a, b):
    return 2.0 * np.matmul(np.transpose(a, (0, 2, 1)), b)


# nk: run chosen(x=f32[2,128,8]:randn(0))
# nk: expect doubled_reference
@nki.compiler.force_auto_alloc
@nki.jit
def chosen(x):
    # The compiler places the tiles, whatever the addresses say: as they stand, the two would collide.
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((2, nl.par_dim(128), 8), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0))
    tiles[0] = nl.load(x[0])
    tiles[1] = nl.load(x[1])
    for i in nl.affine_range(2):
        nl.store(out[i], value=nl.multiply(tiles[i], 2.0))
    return out


# nk: run counted_up(x=f32[3,128,8]:randn(0))
# nk: expect doubled_reference
# nk: snapshot placement
@nki.jit
def counted_up(x):
    # NKI traces the body once: every iteration has the tiles at bytes 64 and 96, a static loop counts on.
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    byte = 64
    for i in nl.sequential_range(3):
        tile = nl.ndarray((nl.par_dim(128), 8), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=byte))
        byte += 32
        tile[...] = nl.load(x[i])
        for _ in nl.static_range(1):
            double = nl.ndarray((nl.par_dim(128), 8), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=byte))
            byte += 32
            double[...] = nl.multiply(tile, 2.0)
            nl.store(out[i], value=double)
    return out
