"""Groups that cannot be: each kernel has one."""

import nki
import nki.collectives as nccl
import nki.isa as nisa
import nki.language as nl


# nk: run twice(x=f32[8,8]:ones) ranks=2
@nki.jit
def twice(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_reduce([x], [out], [[0, 0]], op=nl.add)  # error: bad-replica-group
    return out


# nk: run absent(x=f32[8,8]:ones)
@nki.jit
def absent(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_reduce([x], [out], [[0, 1]], op=nl.add)  # error: bad-replica-group
    return out


# nk: run outsider(x=f32[8,8]:ones) ranks=3
@nki.jit
def outsider(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_reduce([x], [out], [[1, 2]], op=nl.add)  # error: bad-replica-group
    return out


# nk: run uneven(x=f32[8,8]:ones) ranks=3
@nki.jit
def uneven(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_reduce([x], [out], [[0, 1], [2]], op=nl.add)  # error: bad-replica-group
    return out


# nk: run small(x=f32[8,8]:ones) ranks=2
@nki.jit
def small(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_gather([x], [out], [[0, 1]], collective_dim=0)  # error: collective-size
    return out


# nk: run alone(x=f32[8,8]:ones) grid=2
@nki.jit
def alone(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.core_barrier(out, (0, 1))  # error: not-on-this-target
    return out
