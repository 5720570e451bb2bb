//! How fast files are lexed and parsed, in bytes of source a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nk_compiler::lex::lex;
use nk_compiler::parse::parse;
use nk_compiler::source::{FileId, Sources};
use std::hint::black_box;

/// A kernel as people write them: a docstring, comments, asserts, loops, slices, calls with keywords. `{n}` tells the
/// copies apart.
const DOCUMENTED: &str = r#"
@nki.jit
def tiled_matmul_{n}(lhsT, rhs, tile_k: int = 128, tile_m: Optional[int] = None):
    """
    Multiply lhsT [K, M] by rhs [K, N], tile by tile.

    Args:
        lhsT: the stationary matrix, transposed, with K on the partition dimension
        rhs: the moving matrix
    Returns:
        the product [M, N] in HBM
    """
    K, M = lhsT.shape
    _, N = rhs.shape
    TILE_M = nl.tile_size.gemm_stationary_fmax if tile_m is None else tile_m  # 128
    TILE_N = nl.tile_size.gemm_moving_fmax  # 512
    assert K % tile_k == 0, f"expected K to be a multiple of {tile_k}, got {K=}"
    result = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)

    # Loop over the tiles of the result; the innermost loop accumulates in PSUM.
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            acc = nl.ndarray((nl.par_dim(TILE_M), TILE_N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.sequential_range(K // tile_k):
                lhsT_tile = nl.load(lhsT[k * tile_k:(k + 1) * tile_k, m * TILE_M:(m + 1) * TILE_M])
                rhs_tile = nl.ndarray((tile_k, TILE_N), dtype=rhs.dtype, buffer=nl.sbuf, name=f"rhs_{m}_{n}")
                nisa.dma_copy(dst=rhs_tile, src=rhs[nl.ds(k * tile_k, tile_k), nl.ds(n * TILE_N, TILE_N)])
                nisa.nc_matmul(acc, lhsT_tile, rhs_tile)
            # Move the tile out through SBUF, in the dtype of the result.
            out = nisa.activation(op=nl.exp, data=acc, scale=1.0 / 8, bias=-0.5e-3, dtype=result.dtype)
            if m == 0 and n < 4 or not K > 1024:
                out[0:64, ...] = nisa.tensor_scalar(out[0:64, :], op0=np.multiply, operand0=2.0, reverse0=False)
            nl.store(result[m * TILE_M:(m + 1) * TILE_M, n * TILE_N:(n + 1) * TILE_N], value=out)
    return result
"#;

/// Lines that are nothing but tokens, as search programs write them.
const DENSE: &str = r#"
@nki.jit
def f{n}(a,b,c):
    i,j=nl.mgrid[0:128,0:512]
    for k in nl.affine_range(8):
        x=nl.load(a[k*128+i,j],mask=(k*128+i<a.shape[0])&(j<512))
        y[i,j]=nisa.tensor_tensor(x[i,j],b[i,k,j],op=nl.add)+x*2-c[k][0]//3%7
        z=(x[0:64,0]if k>0 else x[64:128,1])**2
        w,v=[p*q for p in range(k)if p],{"a":1,"b":(2,3)}
"#;

fn repeated(kernel: &str, n_bytes: usize) -> (Sources, FileId) {
    let header = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n";
    let mut text = header.to_owned();
    for n in 0.. {
        if text.len() >= n_bytes {
            break;
        }
        text.push_str(&kernel.replace("{n}", &n.to_string()));
    }
    let mut sources = Sources::new();
    let file = sources.add("kernel.py", text);
    (sources, file)
}

fn benches(criterion: &mut Criterion) {
    for (name, kernel) in [("documented", DOCUMENTED), ("dense", DENSE)] {
        let (sources, file) = repeated(kernel, 1 << 20);
        let (_, errors) = parse(&sources, file);
        assert!(errors.is_empty(), "the source of the benchmark is a valid file");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(sources.text_of(file).len() as u64));
        group.bench_function("lex", |it| {
            it.iter(|| black_box(lex(sources.text_of(file), file)))
        });
        group.bench_function("parse", |it| it.iter(|| black_box(parse(&sources, file))));
        group.finish();
    }
}

criterion_group!(parsing, benches);
criterion_main!(parsing);
