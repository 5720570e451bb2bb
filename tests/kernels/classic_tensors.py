"""Tensors as classic kernels make them: zeros that nobody writes until a matmul does, annotations that are checked, columns,
strings for memories, NumPy's dtypes, ufuncs and constants, imports where they are used."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
import numpy as np


# nk: run sums(a=bf16[2,128,64]:randn(0), b=bf16[2,128,32]:randn(1))
# nk: expect sums_reference
@nki.jit
def sums(a, b):
    out = nl.ndarray((64, 32), dtype=np.float32, buffer=nl.shared_hbm)
    acc = nl.zeros((nl.par_dim(64), 32), dtype=nl.float32, buffer=nl.psum, lazy_initialization=True)
    for k in nl.affine_range(2):
        acc += nl.matmul(nl.load(a[k]), nl.load(b[k]), transpose_x=True)
    nl.store(out, value=acc)
    return out


def sums_reference(a, b):
    return np.einsum("kpm,kpn->mn", a, b)


# nk: run annotated(x=f32[64,32]:randn(0))
# nk: expect annotated_reference
@nki.jit
def annotated(x: nt.tensor) -> nt.tensor:
    out: nt.tensor[64, 32] = nl.ndarray(x.shape, dtype=x.dtype, buffer="shared_hbm")
    tile: nt.tensor[64, 32] = nl.load(x)
    column: nt.tensor[64, 1] = nl.max(tile, axis=1, keepdims=True)
    nl.store(out, value=tile - column)
    return out


def annotated_reference(x):
    return x - np.max(x, axis=1, keepdims=True)


# nk: run ufuncs(x=f32[64,32]:randn(0))
# nk: expect ufuncs_reference
@nki.jit
def ufuncs(x):
    from neuronxcc.nki.isa import activation, tensor_reduce, tensor_scalar
    import neuronxcc.nki.language as lang

    out = nl.ndarray((3, 64, 1), dtype=np.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    square = activation(op=np.square, data=tile, scale=0.5)
    total = tensor_reduce(np.add, square, axis=(1,), dtype=np.float32)
    nl.store(out[0], value=total)
    scaled = tensor_scalar(total, np.multiply, np.pi, op1=np.add, operand1=np.e)
    nl.store(out[1], value=scaled)
    lowest = tensor_reduce(np.max, nisa.tensor_tensor(tile, square, op=np.minimum), axis=[1], negate=True)
    lang.store(out[2], value=lowest)
    return out


def ufuncs_reference(x):
    square = np.square(0.5 * x)
    total = np.sum(square, axis=1, keepdims=True)
    lowest = -np.max(np.minimum(x, square), axis=1, keepdims=True)
    return np.stack([total, np.pi * total + np.e, lowest])


# nk: run turned(x=f32[32,64]:randn(0))
# nk: expect turned_reference
@nki.jit
def turned(x):
    out = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load_transpose2d(x)
    above = tile > 0.5
    nl.store(out, value=-tile * above + abs_of(tile) / 2.0)
    return out


def abs_of(tile):
    return nl.maximum(tile, -tile)


def turned_reference(x):
    turned = np.transpose(x)
    return -turned * (turned > 0.5) + np.abs(turned) / 2.0
