//! How fast instructions are emulated, beside what the CPU can do: measured in one run, so that ratios hold on a busy
//! machine too.
//!
//! `cargo bench -p nk-runtime --bench kernels` prints the table of ratios first, then criterion's times.

#[cfg(target_arch = "x86_64")]
#[path = "kernels/host.rs"]
mod host;
#[path = "kernels/program.rs"]
mod program;
#[cfg(target_arch = "x86_64")]
#[path = "kernels/speed.rs"]
mod speed;

use criterion::{Criterion, criterion_group, criterion_main};
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::InstId;
use nk_compiler::isa::ActFn;
use program::{
    activation, columns, dma_transpose, exp_and_sums, load_4_mib, matmul, reduce, tensor_tensor, transpose,
};

#[cfg(target_arch = "x86_64")]
fn ratios(_: &mut Criterion) {
    speed::table();
}

#[cfg(not(target_arch = "x86_64"))]
fn ratios(_: &mut Criterion) {
    println!("the baselines are x86-64 code: no ratios");
}

fn times(criterion: &mut Criterion) {
    let order = [InstId::new(0)];
    let cases = [
        ("matmul f32", matmul(Dtype::F32)),
        ("matmul bf16", matmul(Dtype::Bf16)),
        ("add f32", tensor_tensor(Dtype::F32)),
        ("add bf16", tensor_tensor(Dtype::Bf16)),
        ("exp f32", activation(ActFn::Exp, Dtype::F32)),
        ("exp bf16", activation(ActFn::Exp, Dtype::Bf16)),
        ("gelu f32", activation(ActFn::Gelu, Dtype::F32)),
        ("silu f32", activation(ActFn::Silu, Dtype::F32)),
        ("sigmoid f32", activation(ActFn::Sigmoid, Dtype::F32)),
        ("tanh f32", activation(ActFn::Tanh, Dtype::F32)),
        ("log f32", activation(ActFn::Log, Dtype::F32)),
        ("sin f32", activation(ActFn::Sin, Dtype::F32)),
        ("row sums f32", reduce()),
        ("transpose f32", transpose(Dtype::F32)),
        ("transpose bf16", transpose(Dtype::Bf16)),
        ("multiply columns f32", columns()),
        ("exp with row sums f32", exp_and_sums()),
        ("dma transpose f32", dma_transpose(Dtype::F32)),
        ("dma 4 MiB", load_4_mib()),
    ];
    for (name, mut machine) in cases {
        criterion.bench_function(name, |it| {
            it.iter(|| machine.run(&order).expect("addresses are static"))
        });
    }
}

criterion_group!(benches, ratios, times);
criterion_main!(benches);
