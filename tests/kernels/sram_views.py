"""What views and copies may do, one fact a kernel: none of these may be refused or warned about."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def result(x):
    return nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)


def tile(*shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


def same(x):
    return x


def doubled(x):
    return 2.0 * x


# nk: run last_element(x=f32[128,64]:randn(0))
# nk: expect last_column
@nki.jit
def last_element(x):
    """The last column of the last partition is inside."""
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=nl.load(x)[:, 63:64])
    return out


def last_column(x):
    return x[:, 63:64]


# nk: run from_the_end(x=f32[128,64]:randn(0))
# nk: expect last_column
@nki.jit
def from_the_end(x):
    """Negative bounds count from the end."""
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=nl.load(x)[:, -1:])
    return out


# nk: run quarters(x=f32[128,64]:randn(0))
# nk: expect doubled
@nki.jit
def quarters(x):
    """Accesses of 32 partitions start at 0, 32, 64 and 96."""
    out, data = result(x), nl.load(x)
    for first in range(0, 128, 32):
        rows = slice(first, first + 32)
        nisa.tensor_scalar(dst=data[rows, :], data=data[rows, :], op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=data)
    return out


# nk: run upper_half(x=f32[64,64]:randn(0))
# nk: expect doubled
@nki.jit
def upper_half(x):
    """64 partitions start at 64, and the result may lie elsewhere than the operand."""
    out, data, twice = result(x), tile(128, 64), tile(64, 64)
    nisa.dma_copy(dst=data[64:128, :], src=x)
    nisa.tensor_scalar(dst=twice, data=data[64:128, :], op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=twice)
    return out


# nk: run any_partition_by_dma(x=f32[128,64]:randn(0))
# nk: expect shifted
@nki.jit
def any_partition_by_dma(x):
    """A DMA starts at any partition, on both sides."""
    out, data, moved = result(x), nl.load(x), tile(128, 64)
    nisa.dma_copy(dst=moved[0:125, :], src=data[3:128, :])
    nisa.dma_copy(dst=moved[125:128, :], src=data[0:3, :])
    nisa.dma_copy(dst=out, src=moved)
    return out


def shifted(x):
    return np.concatenate([x[3:], x[:3]])


# nk: run halves_of_words(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def halves_of_words(x):
    """Bytes that were written as f32 may be read as 16-bit halves, and put together again."""
    out, data = result(x), nl.load(x)
    words = data.view(nl.uint16)
    copy = tile(128, 128, dtype=nl.uint16)
    nisa.tensor_copy(dst=copy, src=words)
    nisa.dma_copy(dst=out, src=copy.view(nl.float32))
    return out


# nk: run in_place_backwards(x=f32[128,64]:randn(0))
# nk: expect reversed_sum
@nki.jit
def in_place_backwards(x):
    """An element-wise result may take the place of either operand."""
    out, data, other = result(x), nl.load(x), nl.load(x)
    nisa.tensor_tensor(dst=other, data1=data, data2=other, op=nl.add)
    nisa.tensor_tensor(dst=data, data1=data, data2=other, op=nl.add)
    nisa.dma_copy(dst=out, src=data)
    return out


def reversed_sum(x):
    return 3.0 * x


# nk: run next_to_each_other(x=f32[128,64]:randn(0))
# nk: expect swapped_halves
@nki.jit
def next_to_each_other(x):
    """A DMA in one tile whose two parts touch and do not overlap."""
    out, data = result(x), tile(128, 96)
    nisa.dma_copy(dst=data[:, 0:64], src=x)
    nisa.dma_copy(dst=data[:, 64:96], src=data[:, 0:32])
    nisa.dma_copy(dst=out, src=data[:, 32:96])
    return out


def swapped_halves(x):
    return np.concatenate([x[:, 32:], x[:, :32]], axis=1)


# nk: run strided_parts(x=f32[128,64]:randn(0))
# nk: expect swapped_neighbours
@nki.jit
def strided_parts(x):
    """Even and odd columns overlap in bytes from first to last, and share none."""
    out, data, moved = result(x), nl.load(x), tile(128, 64)
    nisa.tensor_copy(dst=moved[:, 0:64:2], src=data[:, 1:64:2])
    nisa.tensor_copy(dst=moved[:, 1:64:2], src=data[:, 0:64:2])
    nisa.dma_copy(dst=out, src=moved)
    return out


def swapped_neighbours(x):
    return np.reshape(np.reshape(x, (128, 32, 2))[:, :, ::-1], (128, 64))


# nk: run row_for_all(x=f32[1,64]:randn(0))
# nk: expect repeated_rows
@nki.jit
def row_for_all(x):
    """A stride of zero reads one row 128 times."""
    out, data = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm), tile(128, 64)
    nisa.dma_copy(dst=data, src=x.broadcast(0, 128))
    nisa.dma_copy(dst=out, src=data)
    return out


def repeated_rows(x):
    return np.repeat(x, 128, axis=0)


# nk: run written_as_pieces(x=f32[128,64]:randn(0))
# nk: expect same
@nki.jit
def written_as_pieces(x):
    """Written as [128, 8, 8], read as [128, 64]."""
    out, data = result(x), tile(128, 8, 8)
    for i in range(8):
        nisa.dma_copy(dst=data[:, i, :], src=x[:, i * 8 : (i + 1) * 8])
    nisa.dma_copy(dst=out, src=data.reshape((128, 64)))
    return out


# nk: run result_read_back(x=f32[128,64]:randn(0))
# nk: expect doubled
@nki.jit
def result_read_back(x):
    """What has been stored in a result may be loaded again."""
    out = result(x)
    nl.store(out, value=nl.load(x))
    nl.store(out, value=nl.multiply(nl.load(out), 2.0))
    return out


# nk: run short_tiles(x=f32[300,64]:randn(0))
# nk: expect doubled
@nki.jit
def short_tiles(x):
    """The last tile has fewer rows, and only those are written, computed and stored."""
    out = result(x)
    for first in range(0, 300, 128):
        n_rows = min(128, 300 - first)
        data = tile(128, 64)
        nisa.dma_copy(dst=data[0:n_rows, :], src=x[first : first + n_rows, :])
        nisa.tensor_scalar(dst=data[0:n_rows, :], data=data[0:n_rows, :], op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out[first : first + n_rows, :], src=data[0:n_rows, :])
    return out


# nk: run zero_then_rows(x=f32[100,64]:randn(0))
# nk: expect column_sums
@nki.jit
def zero_then_rows(x):
    """Rows that are not there are zeros, so a sum over partitions may take them in."""
    out = nl.ndarray((1, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    data, ones = tile(128, 64), tile(128, 1)
    nisa.memset(dst=data, value=0.0)
    nisa.memset(dst=ones, value=1.0)
    nisa.dma_copy(dst=data[0:100, :], src=x)
    total = nl.ndarray((1, 64), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=total, stationary=ones, moving=data)
    nl.store(out, value=nl.copy(total))
    return out


def column_sums(x):
    return np.sum(x, axis=0, keepdims=True)
