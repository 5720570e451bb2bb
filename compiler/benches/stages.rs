//! How many instructions a second go from the syntax tree to a verified schedule, and each stage's part of it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nk_compiler::dtype::Dtype;
use nk_compiler::source::{FileId, Sources};
use nk_compiler::specialize::{ArgValue, Request, Specialized, specialize};
use nk_compiler::{ast, check, compile_ast, parse, place, schedule, target, verify};
use std::hint::black_box;
use std::rc::Rc;

/// A tiled matmul that unrolls to 13 000 instructions for the shapes below.
const KERNEL: &str = "
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def matmul(lhsT, rhs):
    K, M = lhsT.shape
    _, N = rhs.shape
    TILE_K, TILE_M, TILE_N = nl.tile_size.pmax, nl.tile_size.gemm_stationary_fmax, nl.tile_size.gemm_moving_fmax
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            acc = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // TILE_K):
                a = nl.ndarray((TILE_K, TILE_M), dtype=lhsT.dtype, buffer=nl.sbuf)
                b = nl.ndarray((TILE_K, TILE_N), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=a, src=lhsT[k * TILE_K:(k + 1) * TILE_K, m * TILE_M:(m + 1) * TILE_M])
                nisa.dma_copy(dst=b, src=rhs[k * TILE_K:(k + 1) * TILE_K, n * TILE_N:(n + 1) * TILE_N])
                nisa.nc_matmul(dst=acc, stationary=a, moving=b)
            result = nl.ndarray((TILE_M, TILE_N), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=acc)
            nisa.dma_copy(dst=out[m * TILE_M:(m + 1) * TILE_M, n * TILE_N:(n + 1) * TILE_N], src=result)
    return out
";

/// The same in the classic style, as machine-written kernels have it: index tensors made anew for every access, masks,
/// block dimensions, functional calls.
const CLASSIC_KERNEL: &str = "
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np

@nki.jit
def matmul(lhsT, rhs):
    out = nl.ndarray((4096, 4096), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((32, 16, nl.par_dim(128), 128), dtype=lhsT.dtype, buffer=nl.sbuf)
    right = nl.ndarray((32, 8, 16, nl.par_dim(128), 512), dtype=lhsT.dtype, buffer=nl.sbuf)
    product = nl.zeros((32, 8, nl.par_dim(128), 512), dtype=np.float32, buffer=nl.psum, lazy_initialization=True)
    result = nl.ndarray((32, 8, nl.par_dim(128), 512), dtype=lhsT.dtype, buffer=nl.sbuf)
    for i0 in nl.affine_range(32):
        for i1 in nl.affine_range(16):
            left[i0, i1, nl.arange(128)[:, None], nl.arange(128)[None, :]] = nl.load(lhsT[128 * i1 + nl.arange(128)[:, None], 128 * i0 + nl.arange(128)[None, :]], dtype=lhsT.dtype, mask=None)
        for i2 in nl.affine_range(8):
            for i3 in nl.affine_range(16):
                right[i0, i2, i3, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nl.load(rhs[128 * i3 + nl.arange(128)[:, None], 512 * i2 + nl.arange(512)[None, :]], dtype=lhsT.dtype, mask=-512 * i2 + -1 * nl.arange(512)[None, :] + 4095 >= 0)
                product[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]] += nisa.nc_matmul(left[i0, i3, nl.arange(128)[:, None], nl.arange(128)[None, :]], right[i0, i2, i3, nl.arange(128)[:, None], nl.arange(512)[None, :]], is_stationary_onezero=False, is_moving_onezero=False, mask=None)
            result[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]] = nl.copy(product[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]], dtype=lhsT.dtype, mask=None)
            nl.store(out[128 * i0 + nl.arange(128)[:, None], 512 * i2 + nl.arange(512)[None, :]], value=result[i0, i2, nl.arange(128)[:, None], nl.arange(512)[None, :]], mask=None)
    return out
";

struct Input {
    sources: Sources,
    file: FileId,
    ast: Rc<ast::Module>,
    args: Vec<(String, ArgValue)>,
}

impl Input {
    fn new(kernel: &str) -> Input {
        let mut sources = Sources::new();
        let file = sources.add("matmul.nk", kernel);
        let (ast, errors) = parse::parse(&sources, file);
        assert!(errors.is_empty());
        let tensor = |shape: [u32; 2]| ArgValue::Tensor {
            dtype: Dtype::Bf16,
            shape: shape.to_vec(),
        };
        let args = vec![
            ("lhsT".to_string(), tensor([2048, 4096])),
            ("rhs".to_string(), tensor([2048, 4096])),
        ];
        Input {
            sources,
            file,
            ast: Rc::new(ast),
            args,
        }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Sources, FileId, &Rc<ast::Module>, &Request<'_>) -> T) -> T {
        let request = Request::new(&self.args, &target::TARGETS[0]);
        f(&mut self.sources, self.file, &self.ast, &request)
    }

    fn specialized(&mut self) -> Specialized {
        let result = self.with(specialize);
        result.unwrap_or_else(|_| panic!("the kernel of the benchmark specialises"))
    }
}

fn stages(criterion: &mut Criterion) {
    let mut input = Input::new(KERNEL);
    let program = input.specialized().program;
    let target = &target::TARGETS[0];
    let placement = place::place(&program, target).expect("the kernel of the benchmark fits");
    let queues = schedule::schedule(&program, &placement);

    let mut group = criterion.benchmark_group("instructions");
    group
        .throughput(Throughput::Elements(program.insts.len() as u64))
        .sample_size(20);
    group.bench_function("ast to verified schedule", |it| {
        it.iter(|| {
            black_box(
                input.with(|sources, file, ast, request| compile_ast(sources, file, ast, request).is_ok()),
            )
        })
    });
    group.bench_function("specialize", |it| it.iter(|| black_box(input.specialized())));
    group.bench_function("verify", |it| {
        it.iter(|| black_box(verify::verify(&program, target)))
    });
    group.bench_function("place", |it| {
        it.iter(|| black_box(place::place(&program, target)))
    });
    group.bench_function("verify placed", |it| {
        it.iter(|| black_box(verify::verify_placed(&program, &placement, target)))
    });
    group.bench_function("check", |it| {
        it.iter(|| black_box(check::check(&program, &placement)))
    });
    group.bench_function("place and all memory checks", |it| {
        it.iter(|| {
            let placement = place::place(&program, target).expect("the kernel of the benchmark fits");
            let wrong = place::verify_placement(&program, &placement, target);
            black_box((wrong, check::check(&program, &placement)))
        })
    });
    group.bench_function("schedule", |it| {
        it.iter(|| black_box(schedule::schedule(&program, &placement)))
    });
    group.bench_function("verify schedule", |it| {
        it.iter(|| black_box(schedule::verify_schedule(&program, &placement, &queues)))
    });
    group.finish();
}

/// The part of the classic style: what it costs more is in `specialize`.
fn classic(criterion: &mut Criterion) {
    let mut input = Input::new(CLASSIC_KERNEL);
    let program = input.specialized().program;
    let mut group = criterion.benchmark_group("classic instructions");
    group
        .throughput(Throughput::Elements(program.insts.len() as u64))
        .sample_size(20);
    group.bench_function("ast to verified schedule", |it| {
        it.iter(|| {
            black_box(
                input.with(|sources, file, ast, request| compile_ast(sources, file, ast, request).is_ok()),
            )
        })
    });
    group.bench_function("specialize", |it| it.iter(|| black_box(input.specialized())));
    group.finish();
}

criterion_group!(benches, stages, classic);
criterion_main!(benches);
