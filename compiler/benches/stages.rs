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

struct Input {
    sources: Sources,
    file: FileId,
    ast: Rc<ast::Module>,
    args: Vec<(String, ArgValue)>,
}

impl Input {
    fn new() -> Input {
        let mut sources = Sources::new();
        let file = sources.add("matmul.nk", KERNEL);
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
        let request = Request {
            kernel: None,
            args: &self.args,
            params: &[],
            grid: &[],
            program_id: &[],
            spill: false,
            place_seed: None,
            target: &target::TARGETS[0],
            dialect: None,
            loader: &|_| None,
            arrays: &|_, _| Err("no files".to_string()),
        };
        f(&mut self.sources, self.file, &self.ast, &request)
    }

    fn specialized(&mut self) -> Specialized {
        let result = self.with(specialize);
        result.unwrap_or_else(|_| panic!("the kernel of the benchmark specialises"))
    }
}

fn stages(criterion: &mut Criterion) {
    let mut input = Input::new();
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
    group.bench_function("schedule", |it| {
        it.iter(|| black_box(schedule::schedule(&program, &placement)))
    });
    group.bench_function("verify schedule", |it| {
        it.iter(|| black_box(schedule::verify_schedule(&program, &placement, &queues)))
    });
    group.finish();
}

criterion_group!(benches, stages);
criterion_main!(benches);
