"""What PSUM allows, one fact a kernel: none of these may be refused or warned about."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def result(rows, columns):
    return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)


def bank(rows=128, columns=512, address=None):
    if address is None:
        return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.psum)
    return nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.psum, address=address)


def product(a, b):
    return np.matmul(np.transpose(a), b)


def twice_product(a, b):
    return 2.0 * product(a, b)


# nk: run whole_bank(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect product
@nki.jit
def whole_bank(a, b):
    """512 f32 values fill a bank to its last byte."""
    out, acc = result(128, 512), bank()
    nisa.nc_matmul(dst=acc, stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, value=nl.copy(acc))
    return out


# nk: run last_bank(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect product
@nki.jit
def last_bank(a, b):
    """The eighth bank ends where PSUM does."""
    out, acc = result(128, 512), bank(address=(0, 7 * 2048))
    nisa.nc_matmul(dst=acc, stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, value=nl.copy(acc))
    return out


# nk: run bank_in_turn(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect twice_product
@nki.jit
def bank_in_turn(a, b):
    """Two tensors take the same bank one after the other."""
    out = result(128, 512)
    left, right = nl.load(a), nl.load(b)
    parts = []
    for _ in range(2):
        acc = bank(address=(0, 2048))
        nisa.nc_matmul(dst=acc, stationary=left, moving=right)
        parts.append(nl.copy(acc))
    nl.store(out, value=nl.add(parts[0], parts[1]))
    return out


# nk: run sixteen_sums(a=bf16[128,128]:randn(0), b=bf16[128,256]:randn(1))
# nk: expect sixteen_times
@nki.jit
def sixteen_sums(a, b):
    """Half banks: sixteen tensors of 1024 bytes live at once."""
    out = result(128, 256)
    left, right = nl.load(a), nl.load(b)
    sums = [bank(columns=256) for _ in range(16)]
    for acc in sums:
        nisa.nc_matmul(dst=acc, stationary=left, moving=right)
    total = nl.copy(sums[0])
    for acc in sums[1:]:
        nisa.tensor_tensor(dst=total, data1=total, data2=acc, op=nl.add)
    nl.store(out, value=total)
    return out


def sixteen_times(a, b):
    return 16.0 * product(a, b)


# nk: run over_banks(x=f32[128,1024]:randn(0))
# nk: expect doubled
@nki.jit
def over_banks(x):
    """What no matmul writes may lie in two banks."""
    out = result(128, 1024)
    wide = bank(columns=1024)
    nisa.tensor_scalar(dst=wide, data=nl.load(x), op0=nl.multiply, operand0=2.0)
    nl.store(out, value=nl.copy(wide))
    return out


def doubled(x):
    return 2.0 * x


# nk: run banks_of_one_tensor(a=bf16[128,128]:randn(0), b=bf16[128,1024]:randn(1))
# nk: expect product
@nki.jit
def banks_of_one_tensor(a, b):
    """A tensor of two banks takes a matmul in each of them."""
    out, wide = result(128, 1024), bank(columns=1024)
    left, right = nl.load(a), nl.load(b)
    for i in range(2):
        columns = slice(i * 512, (i + 1) * 512)
        nisa.nc_matmul(dst=wide[:, columns], stationary=left, moving=right[:, columns])
    nl.store(out, value=nl.copy(wide))
    return out


# nk: run rows_of_a_bank(a=bf16[128,64]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect stacked
@nki.jit
def rows_of_a_bank(a, b):
    """Two products of 64 rows lie one below the other in the same bytes."""
    out, acc = result(128, 512), bank()
    left, right = nl.load(a), nl.load(b)
    nisa.nc_matmul(dst=acc[0:64, :], stationary=left, moving=right)
    nisa.nc_matmul(dst=acc[64:128, :], stationary=left, moving=right)
    nl.store(out, value=nl.copy(acc))
    return out


def stacked(a, b):
    return np.concatenate([product(a, b)] * 2)


# nk: run overwritten(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# nk: expect twice_product
@nki.jit
def overwritten(a, b):
    """accumulate=False begins another sum where one was read."""
    out, acc = result(128, 512), bank()
    left, right = nl.load(a), nl.load(b)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=False)
    first = nl.copy(acc)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=False)
    nl.store(out, value=nl.add(first, nl.copy(acc)))
    return out


# nk: run in_place(x=f32[128,512]:randn(0))
# nk: expect doubled
@nki.jit
def in_place(x):
    """An engine computes from PSUM into the same words of PSUM."""
    out, acc = result(128, 512), bank()
    nisa.tensor_copy(dst=acc, src=nl.load(x))
    nisa.tensor_scalar(dst=acc, data=acc, op0=nl.multiply, operand0=2.0)
    nl.store(out, value=nl.copy(acc))
    return out


# nk: run transposed_bank(x=f32[128,128]:randn(0))
# nk: expect turned
@nki.jit
def transposed_bank(x):
    """A transpose writes a quarter of a bank, whose rest nobody reads."""
    out, acc = result(128, 128), bank()
    nisa.nc_transpose(dst=acc[:, 0:128], data=nl.load(x))
    nl.store(out, value=nl.copy(acc[:, 0:128]))
    return out


def turned(x):
    return np.transpose(x)
