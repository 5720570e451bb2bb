"""Tiles of one dimension are columns, and tensor_tensor repeats a column over the other operand."""
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


# nk: run kernel(x=f32[64,32]:randn(0), bias=f32[64]:randn(1))
# nk: expect kernel_reference
@nki.jit
def kernel(x, bias):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    column = nl.ndarray((nl.par_dim(64),), dtype=x.dtype, buffer=nl.sbuf)
    column[...] = nl.load(bias)
    result = nisa.tensor_tensor(nl.load(x), column, op=nl.add)
    result = nisa.tensor_tensor(column, result, op=nl.subtract)
    nl.store(out, result)
    return out


def kernel_reference(x, bias):
    return bias[:, None] - (x + bias[:, None])
