//! How many instructions a second are timed, and how long a whole profile of a large matmul takes.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nk_compiler::source::Sources;
use nk_runtime::profile::{Profile, text};
use nk_runtime::time::time;
use nk_runtime::truth::{Case, MEASURED_ON};
use std::hint::black_box;

/// The tiled matmul of 4096 by 4096 by 4096 in bf16: 8192 products and the transfers around them.
fn case() -> Case {
    Case {
        id: "",
        what: "",
        file: "matmul",
        kernel: "blocked",
        args: &[
            ("lhsT", "bf16[4096,4096]:zeros"),
            ("rhs", "bf16[4096,4096]:zeros"),
        ],
        spill: false,
        reorder: false,
        source: "",
        note: "",
        figures: &[],
        fetched: None,
    }
}

fn timing(criterion: &mut Criterion) {
    let case = case();
    let mut sources = Sources::new();
    let compiled = case.compile(&mut sources).expect("the kernel compiles");
    let mut group = criterion.benchmark_group("time");
    group
        .throughput(Throughput::Elements(compiled.program.insts.len() as u64))
        .sample_size(20);
    group.bench_function("event model", |it| {
        it.iter(|| {
            black_box(time(
                &compiled.program,
                &compiled.placement,
                &compiled.schedule,
                MEASURED_ON,
            ))
        })
    });
    group.bench_function("source to profile text", |it| {
        it.iter(|| {
            let mut sources = Sources::new();
            let compiled = case.compile(&mut sources).expect("the kernel compiles");
            let profile = Profile::advised(&compiled, MEASURED_ON, &sources);
            black_box(text(&profile, &compiled.program))
        })
    });
    group.finish();
}

criterion_group!(benches, timing);
criterion_main!(benches);
