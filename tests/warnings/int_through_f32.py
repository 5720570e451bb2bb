# nk: run kernel(x=i32[32,8]:randint(-9,9,0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.load(x)
    b = nl.ndarray(a.shape, dtype=nl.int32, buffer=nl.sbuf)
    sums = nl.ndarray((32, 1), dtype=nl.int32, buffer=nl.sbuf)
    # Exact: GpSimd's integer ALU, and bits on the Vector engine.
    nisa.tensor_tensor(dst=b, data1=a, data2=a, op=nl.add)
    nisa.tensor_tensor(dst=b, data1=b, data2=a, op=nl.maximum, engine=nisa.engine.gpsimd)
    nisa.tensor_scalar(dst=b, data=b, op0=nl.left_shift, operand0=1)
    nisa.tensor_copy(dst=b, src=b)
    # Through float32.
    nisa.tensor_tensor(dst=b, data1=b, data2=a, op=nl.add, engine=nisa.engine.vector)  # warning: int-through-fp32
    nisa.tensor_scalar(dst=b, data=b, op0=nl.multiply, operand0=3)  # warning: int-through-fp32
    nisa.tensor_reduce(dst=sums, op=nl.add, data=b, axis=1)  # warning: int-through-fp32 # warning: dead-store
    nisa.activation(dst=b, op=nl.copy, data=b)  # warning: int-through-fp32
    nl.store(out, value=b)
    return out
