"""What SRAM allows, one fact a kernel: none of these may be refused or warned about."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def new(shape, dtype=nl.float32, buffer=nl.sbuf, address=None):
    if address is None:
        return nl.ndarray(shape, dtype=dtype, buffer=buffer)
    return nl.ndarray(shape, dtype=dtype, buffer=buffer, address=address)


def result(x):
    return nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)


def same(x):
    return x


def doubled(x):
    return x * 2.0


# nk: run in_pieces(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def in_pieces(x):
    """A tile that is written piece by piece is whole."""
    out = result(x)
    tile = new((128, 64))
    for i in range(4):
        nisa.dma_copy(dst=tile[:, i * 16 : (i + 1) * 16], src=x[:, i * 16 : (i + 1) * 16])
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run interleaved(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def interleaved(x):
    """Two strided writes fill a tile."""
    out = result(x)
    tile = new((128, 64))
    nisa.dma_copy(dst=tile[:, 0:64:2], src=x[:, 0:64:2])
    nisa.dma_copy(dst=tile[:, 1:64:2], src=x[:, 1:64:2])
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run backwards(x=f32[256,64]:randn(0))
# nk: expect same
@nki.jit
def backwards(x):
    """A result may be written in any order."""
    out = result(x)
    for i in reversed(range(4)):
        nisa.dma_copy(dst=out[i * 64 : (i + 1) * 64, :], src=x[i * 64 : (i + 1) * 64, :])
    return out


# nk: run overlapping_writes(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def overlapping_writes(x):
    """Pieces may overlap."""
    out = result(x)
    tile = new((128, 64))
    nisa.dma_copy(dst=tile[:, 0:40], src=x[:, 0:40])
    nisa.dma_copy(dst=tile[:, 24:64], src=x[:, 24:64])
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run part_of_a_tile(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def part_of_a_tile(x):
    """Only what is read must have been written."""
    out = result(x)
    tile = new((128, 512))
    nisa.dma_copy(dst=tile[:, 100:164], src=x)
    nisa.dma_copy(dst=out, src=tile[:, 100:164])
    return out


# nk: run in_place(x=f32[128,64]:randn(0))
# nk: expect doubled
@nki.jit
def in_place(x):
    """An engine may write over what it reads, element by element."""
    out = result(x)
    tile = new((128, 64))
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run moved_within_a_tile(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def moved_within_a_tile(x):
    """A DMA between two parts of one tile that do not overlap."""
    out = result(x)
    tile = new((128, 128))
    nisa.dma_copy(dst=tile[:, 0:64], src=x)
    nisa.dma_copy(dst=tile[:, 64:128], src=tile[:, 0:64])
    nisa.dma_copy(dst=out, src=tile[:, 64:128])
    return out


# nk: run same_address_in_turn(x=f32[128,64]:randn(0))
# nk: expect doubled
@nki.jit
def same_address_in_turn(x):
    """Two tensors share an address when one is dead before the other is born."""
    out = result(x)
    middle = new((128, 64), address=(0, 8192))
    first = new((128, 64), address=(0, 4096))
    nisa.dma_copy(dst=first, src=x)
    nisa.tensor_scalar(dst=middle, data=first, op0=nl.multiply, operand0=2.0)
    second = new((128, 64), address=(0, 4096))
    nisa.tensor_copy(dst=second, src=middle)
    nisa.dma_copy(dst=out, src=second)
    return out


# nk: run side_by_side_partitions(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def side_by_side_partitions(x):
    """Four tensors of 32 partitions share one range of bytes."""
    out = result(x)
    for i in range(4):
        tile = new((32, 64), address=(i * 32, 0))
        nisa.dma_copy(dst=tile, src=x[i * 32 : (i + 1) * 32, :])
        nisa.dma_copy(dst=out[i * 32 : (i + 1) * 32, :], src=tile)
    return out


# nk: run whole_partition(x=f32[128,49152]:uniform(0,1,0))
# nk: expect same
@nki.jit
def whole_partition(x):
    """A tile takes all 196608 bytes of a partition."""
    out = result(x)
    tile = new((128, 49152))
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run last_word(x=f32[128,1]:randn(0))
# nk: expect same
@nki.jit
def last_word(x):
    """The last four bytes of a partition."""
    out = result(x)
    tile = new((128, 1), address=(0, 196604))
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run columns_shared_by_short_tiles(x=f32[32,20000]:randn(0))
# nk: expect quadruple
@nki.jit
def columns_shared_by_short_tiles(x):
    """Eight tiles of 80000 bytes fit, four in the same bytes of different partitions."""
    out = result(x)
    tiles = []
    for i in range(8):
        tile = new((32, 20000))
        nisa.dma_copy(dst=tile, src=x)
        tiles.append(tile)
    total = tiles[0]
    for i in range(1, 8):
        nisa.dma_copy(dst=tiles[i][:, 0:1], src=tiles[0][:, 0:1])
        nisa.dma_copy(dst=out, src=tiles[i])
    return out


def quadruple(x):
    return x


# nk: run reused_after_death(x=f32[16,128,12288]:uniform(0,1,0))
# nk: expect same
@nki.jit
def reused_after_death(x):
    """Sixteen tiles of 48 KiB pass through 192 KiB."""
    out = result(x)
    for i in range(16):
        tile = new((128, 12288))
        nisa.dma_copy(dst=tile, src=x[i])
        nisa.dma_copy(dst=out[i], src=tile)
    return out


# nk: run different_sizes(x=f32[128,40000]:uniform(0,1,0))
# nk: expect same
@nki.jit
def different_sizes(x):
    """Small tiles die between large ones, and the large one still fits."""
    out = result(x)
    small = new((128, 4000))
    nisa.dma_copy(dst=small, src=x[:, 0:4000])
    medium = new((128, 8000))
    nisa.dma_copy(dst=medium, src=x[:, 4000:12000])
    nisa.dma_copy(dst=out[:, 0:4000], src=small)
    nisa.dma_copy(dst=out[:, 4000:12000], src=medium)
    large = new((128, 40000))
    nisa.dma_copy(dst=large, src=x)
    nisa.dma_copy(dst=out, src=large)
    return out


# nk: run eight_banks(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect eight_products rtol=1e-2
@nki.jit
def eight_banks(a, b):
    """Eight sums are open at once, one a bank."""
    out = nl.ndarray((8, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    sums = []
    for i in range(8):
        acc = new((128, 512), buffer=nl.psum)
        nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=False)
        sums.append(acc)
    for i in range(8):
        nl.store(out[i], value=nl.copy(sums[i]))
    return out


def eight_products(a, b):
    one = a.T @ b
    return np.stack([one] * 8)


# nk: run banks_by_address(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect product rtol=1e-2
@nki.jit
def banks_by_address(a, b):
    """A bank that the kernel chooses."""
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = new((128, 512), buffer=nl.psum, address=(0, 7 * 2048))
    nisa.nc_matmul(dst=acc, stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, value=nl.copy(acc))
    return out


def product(a, b):
    return a.T @ b


# nk: run two_sums_in_a_bank(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect product rtol=1e-2
@nki.jit
def two_sums_in_a_bank(a, b):
    """Two halves of a bank are two sums."""
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    acc = new((128, 512), buffer=nl.psum)
    for half in range(2):
        columns = nl.ds(half * 256, 256)
        nisa.nc_matmul(dst=acc[:, columns], stationary=left, moving=right[:, columns])
    nl.store(out, value=nl.copy(acc))
    return out


# nk: run sum_in_two_steps(a=bf16[256,128]:randn(0), b=bf16[256,512]:randn(1))
# nk: expect product rtol=1e-2
@nki.jit
def sum_in_two_steps(a, b):
    """The first matmul of a sum overwrites, the second adds."""
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = new((128, 512), buffer=nl.psum)
    for k in range(2):
        rows = nl.ds(k * 128, 128)
        nisa.nc_matmul(dst=acc, stationary=nl.load(a[rows, :]), moving=nl.load(b[rows, :]), accumulate=k > 0)
    nl.store(out, value=nl.copy(acc))
    return out


# nk: run read_between_sums(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect two_products rtol=1e-2
@nki.jit
def read_between_sums(a, b):
    """A sum is read before the next one begins in the same words."""
    out = nl.ndarray((2, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left, right = nl.load(a), nl.load(b)
    acc = new((128, 512), buffer=nl.psum)
    for i in range(2):
        nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=False)
        nl.store(out[i], value=nl.copy(acc))
    return out


def two_products(a, b):
    return np.stack([a.T @ b] * 2)


# nk: run unread_output(x=f32[128,64]:randn(0))
# nk: expect row_sums rtol=1e-3
@nki.jit
def unread_output(x):
    """One of two results of an instruction may go unread."""
    out = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    junk = new((128, 64))
    sums = new((128, 1))
    nisa.activation_reduce(dst=junk, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=sums)
    nl.store(out, value=sums)
    return out


def row_sums(x):
    return np.exp(x).sum(axis=1, keepdims=True)


# nk: run zeroed_edge(x=f32[100,64]:randn(0))
# nk: expect padded
@nki.jit
def zeroed_edge(x):
    """A tile is zeroed, and a part of it is loaded."""
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = new((128, 64))
    nisa.memset(dst=tile, value=0.0)
    nisa.dma_copy(dst=tile[0:100, :], src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


def padded(x):
    return np.concatenate([x, np.zeros((28, 64))], axis=0)


# nk: run carried(x=f32[128,64]:randn(0))
# nk: expect nine_times rtol=1e-3
@nki.jit
def carried(x):
    """A value that the next iteration reads is not lost."""
    out = result(x)
    tile = nl.load(x)
    total = new((128, 64))
    nisa.tensor_copy(dst=total, src=tile)
    for i in range(8):
        nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    nl.store(out, value=total)
    return out


def nine_times(x):
    return x * 9.0


# nk: run scratch_in_hbm(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def scratch_in_hbm(x):
    """Private HBM is written, then read."""
    out = result(x)
    scratch = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    nisa.dma_copy(dst=scratch, src=x)
    tile = new((128, 64))
    nisa.dma_copy(dst=tile, src=scratch)
    nisa.dma_copy(dst=out, src=tile)
    return out


# nk: run ping_pong(x=f32[128,64]:randn(0))
# nk: expect sixteen_fold rtol=1e-3
@nki.jit
def ping_pong(x):
    """Two tiles take turns, and every value is read once."""
    out = result(x)
    tiles = [new((128, 64)), new((128, 64))]
    nisa.dma_copy(dst=tiles[0], src=x)
    for i in range(4):
        nisa.tensor_scalar(dst=tiles[1 - i % 2], data=tiles[i % 2], op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=tiles[0])
    return out


def sixteen_fold(x):
    return x * 16.0


# nk: run filled_at_run_time(x=f32[128,8]:randn(0), n=8)
# nk: expect doubled_columns
@nki.jit
def filled_at_run_time(x, n):
    """A loop of the device fills a tile that is read afterwards, while other tiles are born and die in its body."""
    out = result(x)
    tile = nl.load(x)
    filled = new((128, 8))
    for i in nl.dynamic_range(n):
        column = new((128, 1))
        nisa.tensor_scalar(dst=column, data=tile.select(1, i), op0=nl.multiply, operand0=2.0)
        nisa.tensor_copy(dst=filled.select(1, i), src=column)
    nisa.dma_copy(dst=out, src=filled)
    return out


def doubled_columns(x, n):
    return x * 2.0
