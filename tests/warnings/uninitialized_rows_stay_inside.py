# nk: run kernel(x=f32[100,512]:randn(0), a=bf16[128,128]:randn(1), b=bf16[128,100]:randn(2))
# A short tile is computed on as if it were whole, and only its rows are stored: nothing without a value gets out, neither
# through functions and row sums nor through the columns of a product.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, a, b):
    out = nl.ndarray((100, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    products = nl.ndarray((128, 100), dtype=nl.float32, buffer=nl.shared_hbm)
    turned = nl.ndarray((100, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[0:100, :], src=x)
    grown = nl.exp(tile)  # warning: uninitialized-read
    total = nl.sum(grown, axis=1, keepdims=True)
    shares = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=shares, data=grown, op0=nl.multiply, operand0=total)
    nisa.dma_copy(dst=out, src=shares[0:100, :])
    left, right = nl.load(a), nl.ndarray((128, 128), dtype=b.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=right[:, 0:100], src=b)
    acc = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right)  # warning: uninitialized-read
    nl.store(products, value=nl.copy(acc[:, 0:100]))
    flipped = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=flipped, stationary=right, moving=left)
    nl.store(turned, value=nl.copy(flipped[0:100, :]))
    return out, products, turned
