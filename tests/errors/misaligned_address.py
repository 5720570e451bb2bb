# nk: run elements(x=f32[128,4]:randn(0))
# nk: run readings(x=bf16[128,4]:randn(0))
# nk: run shared(x=bf16[128,4]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def elements(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 2))  # error: address-misaligned
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def readings(x):
    out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 2))  # error: region-misaligned
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile.view(nl.float32))
    return out


@nki.jit
def shared(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 2))
    other = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf, address=(0, 8))  # error: address-overlap
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=other, src=x)
    nisa.tensor_tensor(dst=other, data1=tile, data2=other, op=nl.add)
    nisa.dma_copy(dst=out, src=other)
    return out
