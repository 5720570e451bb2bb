"""Instructions without dst give fresh tiles; under a subscript they write the view itself."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


# nk: run attention_row(q=f32[64,128]:randn(0), k=f32[64,256]:randn(1))
# nk: expect attention_row_reference
@nki.jit
def attention_row(q, k):
    out = nl.ndarray((128, 256), dtype=np.float32, buffer=nl.shared_hbm)
    scores = nisa.nc_matmul(nl.load(q), nl.load(k))
    assert scores.buffer == nl.psum and scores.dtype == nl.float32
    top = nisa.tensor_reduce(np.max, scores, axis=(1,), negate=True)
    assert top.shape == (128, 1)
    exponentials = nisa.activation(np.exp, scores, bias=top, scale=1.0)
    total = nisa.tensor_reduce(np.add, data=exponentials, axis=[1], dtype=nl.float32)
    scaled = nl.ndarray((nl.par_dim(128), 256), dtype=np.float32)
    scaled[:, 0:128] = nisa.tensor_scalar(exponentials[:, 0:128], np.multiply, nisa.reciprocal(total))
    scaled[:, 128:256] = nisa.tensor_scalar(
        data=exponentials[:, 128:256], op0=np.multiply, operand0=1.0, op1=nl.multiply, operand1=nisa.reciprocal(data=total)
    )
    nl.store(out, scaled)
    return out


def attention_row_reference(q, k):
    scores = np.matmul(np.transpose(q), k)
    exponentials = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return exponentials / np.sum(exponentials, axis=1, keepdims=True)


# nk: run transposes(x=bf16[96,128]:randn(0))
# nk: expect transposes_reference rtol=0
@nki.jit
def transposes(x):
    out = nl.ndarray((128, 96), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    turned = nisa.nc_transpose(tile)
    assert turned.shape == (128, 96) and turned.dtype == nl.bfloat16
    in_sbuf = nl.ndarray((128, 96), dtype=x.dtype)
    in_sbuf[:, :] = nisa.nc_transpose(tile[0:96, 0:128])
    nl.store(out, nl.maximum(nisa.tensor_copy(turned), in_sbuf))
    return out


def transposes_reference(x):
    return np.transpose(x)


# nk: run counts()
# nk: expect counts_reference rtol=0
@nki.jit
def counts():
    out = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    rows = nl.arange(16)[:, None]
    columns = nl.arange(24)[None, :]
    tile = nisa.iota(5 + 3 * rows - columns, dtype=nl.int32)
    seven = nisa.memset((16, 24), 7, np.float32)
    nl.store(out, nisa.tensor_tensor(tile, seven, op=np.add, dtype=nl.float32))
    return out


def counts_reference():
    return (12 + 3 * np.arange(16)[:, None] - np.arange(24)[None, :]).astype(np.float32)


# nk: run scalars(x=f32[32,16]:uniform(1,2,0))
# nk: expect scalars_reference
@nki.jit
def scalars(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    halves = nisa.scalar_tensor_tensor(data=tile, op0=np.multiply, operand0=0.5, op1=np.add, operand1=tile)
    squares = nl.ndarray((32, 1), dtype=nl.float32)
    rooted = nisa.activation_reduce(op=nl.square, data=halves, reduce_op=np.add, reduce_res=squares[:, 0:1])
    nl.store(out, rooted / squares)
    return out


def scalars_reference(x):
    squares = np.square(1.5 * x)
    return squares / np.sum(squares, axis=1, keepdims=True)
