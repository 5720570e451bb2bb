"""Every exchange between ranks, against what NumPy makes of the whole tensors."""

import nki
import nki.collectives as nccl
import nki.isa as nisa
import nki.language as nl
import numpy as np

PAIRS = nccl.ReplicaGroup([[0, 1], [2, 3]])
ALL = nccl.ReplicaGroup([[0, 1, 2, 3]])


def reduced_reference(x):
    low, high = x[0:8] + x[8:16], x[16:24] + x[24:32]
    return np.concatenate([low, low, high, high])


# nk: run reduced_in_pairs(x=split(f32[32,16]:randn(0), 0)) ranks=4
# nk: expect reduced_reference rtol=0
@nki.jit
def reduced_in_pairs(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_reduce(srcs=[x], dsts=[out], replica_group=PAIRS, op=nl.add)
    return out


def largest_reference(x):
    return np.max(x.astype(np.float32).reshape((4, 8, 16)), axis=0).astype(x.dtype)


# nk: run largest(x=split(bf16[32,16]:randn(1), 0)) ranks=4
# nk: expect largest_reference rtol=0
@nki.jit
def largest(x):
    """In SBUF, without a detour."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    most = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nccl.all_reduce([tile], [most], ALL, op=nl.maximum)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=most)
    return out


def gathered_reference(x):
    return x, np.concatenate([x[0:8], x[8:16], x[16:24], x[24:32]], axis=1)


# nk: run gathered(x=split(i32[32,4]:randint(-9,9,2), 0)) ranks=4
# nk: expect gathered_reference
@nki.jit
def gathered(x):
    """One below the other in HBM, one beside the other in SBUF."""
    rows = nl.ndarray((32, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_gather(srcs=[x], dsts=[rows], replica_group=ALL, collective_dim=0)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    wide = nl.ndarray((8, 16), dtype=x.dtype, buffer=nl.sbuf)
    nccl.all_gather(srcs=[tile], dsts=[wide], replica_group=ALL, collective_dim=1)
    columns = nl.ndarray((8, 16), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=columns, src=wide)
    return rows, columns


def scattered_reference(x, y):
    return x[0:16] + x[16:32] + x[32:48] + x[48:64], np.minimum(
        np.minimum(y[0:16], y[16:32]), np.minimum(y[32:48], y[48:64])
    )


# nk: run scattered(x=split(f32[64,8]:randint(-99,99,3), 0), y=split(f32[64,8]:randn(4), 0)) ranks=4
# nk: expect scattered_reference rtol=0
@nki.jit
def scattered(x, y):
    """Two tensors, coalesced in one call and with another reduction in another."""
    a = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    b = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.reduce_scatter([x], [a], ALL, 0, nl.add)
    nccl.reduce_scatter([y], [b], ALL, 0, nl.minimum)
    return a, b


def exchanged_reference(x):
    return np.transpose(x.reshape((4, 4, 2, 8)), (1, 0, 2, 3)).reshape((32, 8))


# nk: run exchanged(x=split(u8[32,8]:randint(0,255,5), 0)) ranks=4
# nk: expect exchanged_reference
@nki.jit
def exchanged(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.all_to_all([x], [out], ALL, collective_dim=0)
    return out


def permuted_reference(x):
    return np.concatenate([x[16:24], x[24:32], x[8:16], x[0:8]]), np.concatenate(
        [x[24:32], x[0:8], x[8:16], x[16:24]]
    )


# nk: run permuted(x=split(f32[32,8]:randn(6), 0)) ranks=4
# nk: expect permuted_reference rtol=0
@nki.jit
def permuted(x):
    """Pairs of our own, and the ring."""
    a = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    b = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nccl.collective_permute([x], [a], [(0, 3), (3, 1), (1, 2), (2, 0)])
    nccl.collective_permute_implicit([[x]], [[b]], replica_group=ALL, channel_ids=[0])
    return a, b


def ring_reference(x):
    total = x[0:8] + x[8:16] + x[16:24] + x[24:32]
    return np.concatenate([total, total, total, total])


# nk: run ring_reduced(x=split(f32[32,8]:randint(-99,99,7), 0)) ranks=4
# nk: expect ring_reference rtol=0
@nki.jit
def ring_reduced(x):
    """An all-reduce out of steps: each passes on what it has received plus its own."""
    zero = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=zero, value=0.0)
    nothing = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    nisa.dma_copy(dst=nothing, src=zero)
    total = nothing
    for step in range(4):
        assert nccl.collective_permute_implicit_current_processing_rank_id(step, ALL) == (nccl.rank_id() - step) % 4
        received = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
        nccl.collective_permute_implicit_reduce([[total]], [[x]], [[received]], ALL, nl.add)
        total = received
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=total)
    return out
