//! Single instructions, transfers, and a stream of adds whose every event was published.

use super::{Case, Quantity, case, exact, fit, shown};
use nk_compiler::isa::{Engine, Op};

const PERF: &str = "aws-neuron-sdk, nki/deep-dives/nki_perf_guide.rst";
const BENCH: &str = "zhang677/AccelOpt, NKIBench: neuron-profile on trn1";
const TRACE: &str = "stanford-cs149/asst4-trainium: profiler traces in student copies";

pub const CASES: &[Case] = &[
    case(
        "TT",
        "tensor_tensor add f32, 1000 elements on 128 partitions",
        ("instructions", "add"),
        &[("a", "f32[128,1000]:zeros"), ("b", "f32[128,1000]:zeros")],
        TRACE,
        &[fit(exact(2.0, Quantity::Duration(Op::TensorTensor), 2016.5))],
    ),
    case(
        "TT",
        "tensor_tensor add f32, 2000 elements on 128 partitions",
        ("instructions", "add"),
        &[("a", "f32[128,2000]:zeros"), ("b", "f32[128,2000]:zeros")],
        TRACE,
        &[fit(exact(2.0, Quantity::Duration(Op::TensorTensor), 3820.0))],
    ),
    case(
        "TT",
        "tensor_tensor add f32, 8192 elements on 128 partitions",
        ("instructions", "add"),
        &[("a", "f32[128,8192]:zeros"), ("b", "f32[128,8192]:zeros")],
        PERF,
        &[fit(exact(2.0, Quantity::Duration(Op::TensorTensor), 14987.0))],
    ),
    case(
        "TT",
        "tensor_tensor add f32, 8192 elements on 64 partitions",
        ("instructions", "add"),
        &[("a", "f32[64,8192]:zeros"), ("b", "f32[64,8192]:zeros")],
        PERF,
        &[exact(2.0, Quantity::Duration(Op::TensorTensor), 14968.0)],
    ),
    case(
        "II",
        "sequencer and trigger spacing",
        ("instructions", "add"),
        &[("a", "f32[128,64]:zeros"), ("b", "f32[128,64]:zeros")],
        TRACE,
        &[exact(5.0, Quantity::Spacing(Engine::Scalar), 45.7), exact(5.0, Quantity::Spacing(Engine::Vector), 56.3), exact(5.0, Quantity::Interval(Op::DmaCopy), 82.0)],
    )
    .note("EVENT_SEMAPHORE, 9 ns, is no instruction of the model: it lies inside the 23 ns that a semaphore takes to be seen"),
    case(
        "ACT",
        "dependent activations of one element",
        ("instructions", "square_chain"),
        &[("x", "f32[128,1]:zeros")],
        PERF,
        &[exact(2.0, Quantity::Interval(Op::Activation), 189.0), exact(5.0, Quantity::Duration(Op::Activation), 159.0)],
    ),
    case(
        "PE",
        "one bf16 product of 128 columns, its weight load included",
        ("instructions", "weights"),
        &[("stationary", "bf16[128,128]:zeros"), ("moving", "bf16[128,128]:zeros")],
        PERF,
        &[shown(Quantity::Duration(Op::NcMatmul), 214.0)],
    )
    .note("the profiler shows 188 to 219 ns for the product, which starts 26 ns after its load"),
    case(
        "DVE",
        "independent tensor_tensor f32, 512 elements",
        ("instructions", "add_twice"),
        &[("a", "f32[128,512]:zeros"), ("b", "f32[128,512]:zeros")],
        BENCH,
        &[fit(exact(1.0, Quantity::Interval(Op::TensorTensor), 1010.0))],
    )
    .note("the activity of row 34 over its instructions"),
    case(
        "store",
        "a store of 512 KB on its own",
        ("instructions", "write"),
        &[("like", "f32[128,1000]:zeros")],
        TRACE,
        &[shown(Quantity::Duration(Op::DmaCopy), 2855.0)],
    ),
    case(
        "store",
        "a store of 1024 KB on its own",
        ("instructions", "write"),
        &[("like", "f32[128,2000]:zeros")],
        TRACE,
        &[shown(Quantity::Duration(Op::DmaCopy), 4700.0)],
    ),
    case(
        "49",
        "vector_add_stream, 256 000 elements, free size 1000",
        ("stream", "stream"),
        &[("a", "f32[256000]:zeros"), ("b", "f32[256000]:zeros"), ("free", "1000")],
        TRACE,
        &[fit(exact(10.0, Quantity::LoadEnd(0), 3.53)), exact(10.0, Quantity::LoadEnd(1), 5.57), exact(10.0, Quantity::LoadEnd(2), 7.6), exact(10.0, Quantity::LoadEnd(3), 9.07), exact(10.0, Quantity::StoreEnd(0), 10.93), exact(5.0, Quantity::Timeline, 13.88), exact(15.0, Quantity::Latency, 29.0)],
    ),
    case(
        "50",
        "vector_add_stream, 256 000 elements, free size 2000",
        ("stream", "stream"),
        &[("a", "f32[256000]:zeros"), ("b", "f32[256000]:zeros"), ("free", "2000")],
        TRACE,
        &[exact(10.0, Quantity::LoadEnd(0), 5.64), exact(10.0, Quantity::LoadEnd(1), 9.24), exact(5.0, Quantity::Timeline, 17.8), exact(15.0, Quantity::Latency, 34.0)],
    ),
];
