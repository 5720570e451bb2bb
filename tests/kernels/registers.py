"""Registers, dynamic addresses and loops of the device, one fact a kernel."""
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def scalar(value):
    """One int32 in SBUF."""
    tile = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=value)
    return tile


# nk: run counted(x=f32[512,64]:randn(0), count=i32[1,1]:randint(3,4,0))
# nk: expect counted_ref
# nk: snapshot program
# nk: snapshot schedule
# nk: snapshot clif
@nki.jit
def counted(x, count):
    """A trip count and row offsets that only the device knows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    n = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=n, src=count)
    stop = nisa.register_alloc()
    nisa.register_load(stop, n)
    row = scalar(0)
    for _ in nl.dynamic_range(0, stop):
        tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap([[64, 128], [1, 64]], scalar_offset=row))
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        nisa.dma_copy(dst=out.ap([[64, 128], [1, 64]], scalar_offset=row), src=tile)
        nisa.tensor_scalar(dst=row, data=row, op0=nl.add, operand0=128)
    return out


def counted_ref(x, count):
    y = x.copy()
    n = int(count[0, 0]) * 128
    y[:n] = x[:n] * 2.0
    return y


# nk: run columns(x=f32[8,64]:randn(1))
# nk: expect columns_ref
@nki.jit
def columns(x):
    """An on-chip dimension selected by the counter of a loop."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=result, value=0.0)

    def body(i):
        nisa.tensor_scalar(dst=result.select(1, i), data=tile.select(1, i), op0=nl.multiply, operand0=3.0)

    nl.fori_loop(1, 64, body, step=2)
    nisa.dma_copy(dst=out, src=result)
    return out


def columns_ref(x):
    y = np.zeros(x.shape)
    y[:, 1::2] = x[:, 1::2] * 3.0
    return y


# nk: run nested(x=i32[6,5]:randint(-9,9,2))
# nk: expect nested_ref
@nki.jit
def nested(x):
    """Loops in loops, the inner bound a register of the outer one."""
    out = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    total = scalar(0)
    cell = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    for i in nl.dynamic_range(6):
        for j in nl.dynamic_range(0, i):
            nisa.dma_copy(dst=cell, src=x.select(0, i)[0:1].reshape((1, 1)))
            nisa.tensor_tensor(dst=total, data1=total, data2=cell, op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


def nested_ref(x):
    return np.array([[sum([i * x[i, 0] for i in range(6)])]])


# nk: run halving(n=i32[1,1]:randint(40,41,0))
# nk: expect halving_ref
@nki.jit
def halving(n):
    """`while_loop` asks its register before each iteration; registers go to memory and come back."""
    out = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    value = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=value, src=n)
    steps = scalar(0)
    one = scalar(1)
    condition = nisa.register_alloc()
    nisa.register_load(condition, value)

    def body(register):
        nisa.tensor_scalar(dst=value, data=value, op0=nl.right_shift, operand0=1)
        nisa.tensor_tensor(dst=steps, data1=steps, data2=one, op=nl.add)
        nisa.register_load(register, value)
        return register

    nl.while_loop(condition, body)
    seven = nisa.register_alloc(7)
    copy = nisa.register_alloc()
    nisa.register_move(copy, seven)
    nisa.register_store(one, copy)
    nisa.tensor_tensor(dst=steps, data1=steps, data2=one, op=nl.add)
    nisa.dma_copy(dst=out, src=steps)
    return out


def halving_ref(n):
    steps = 7
    value = int(n[0, 0])
    while value:
        value = value // 2
        steps = steps + 1
    return np.array([[steps]])


# nk: run legacy_while(x=f32[4,8]:randn(3))
# nk: expect legacy_while_ref
@nki.jit
def legacy_while(x):
    """`while register:` of NKI 0.3."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    left = scalar(3)
    register = nisa.register_alloc(3)
    while register:
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
        nisa.register_load(register, left)
    nl.store(out, tile)
    return out


def legacy_while_ref(x):
    return x + 3.0


# nk: run gather(x=f32[100,40]:randn(1), rows=i32[64,1]:randint(0,100,3))
# nk: expect gather_ref
@nki.jit
def gather(x, rows):
    """Row `p` of the tile is row `rows[p]` of the tensor, converted on the way."""
    out = nl.ndarray((64, 40), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    index = nl.load(rows)
    tile = nl.ndarray((64, 40), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.vector_select(0, index))
    nisa.dma_copy(dst=out, src=tile)
    return out


def gather_ref(x, rows):
    return np.stack([x[int(it)] for it in rows[:, 0]])


# nk: run scatter(x=f32[10,6]:randn(4))
# nk: expect scatter_ref
@nki.jit
def scatter(x):
    """Rows beyond the tensor are left out when the mode is skip."""
    out = nl.ndarray((16, 6), dtype=x.dtype, buffer=nl.shared_hbm)
    zero = nl.zeros((16, 6), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=out, src=zero)
    tile = nl.load(x)
    index = nl.ndarray((10, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=index, pattern=[[1, 1]], offset=0, channel_multiplier=2)
    nisa.dma_copy(
        dst=out.ap([[6, 10], [1, 6]], vector_offset=index),
        src=tile,
        oob_mode=nisa.oob_mode.skip,
    )
    return out


def scatter_ref(x):
    y = np.zeros((16, 6))
    y[0:16:2] = x[:8]
    return y
