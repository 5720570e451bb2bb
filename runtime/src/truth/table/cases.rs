//! The cases of the table, one for each kernel and shape.

use super::{Case, Quantity, case, close, exact, far, fit, limit, shown, spilled};
use nk_compiler::isa::{Engine, Op};

const MATMUL: &str = "aws-neuron-sdk, general/nki/tutorials/matrix_multiplication.rst";
const TUNE: &str = "awslabs/nki-autotune, issue 25";
const PERF: &str = "aws-neuron-sdk, nki/deep-dives/nki_perf_guide.rst";
const MAMBA: &str = "aws-neuron-sdk, nki/guides/tutorials/fused_mamba.rst";
const BENCH: &str = "zhang677/AccelOpt, NKIBench: neuron-profile on trn1";
const COURSE: &str = "stanford-cs149/asst4-trainium: student measurements on trn1.2xlarge";
const TRACE: &str = "stanford-cs149/asst4-trainium: profiler traces in student copies";
const SAMPLES: &str = "aws-neuron/nki-samples, test/unit at 5d97201";

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
    case(
        "4, 5, 9",
        "matmul optimized, 4096 x 8192 x 8192 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[8192,4096]:zeros"), ("rhs", "bf16[8192,8192]:zeros")],
        MATMUL,
        &[close(10.0, Quantity::Latency, 6970.0), close(10.0, Quantity::Latency, 6991.0), close(10.0, Quantity::Latency, 7030.0), exact(3.0, Quantity::Hfu, 85.24), exact(3.0, Quantity::Mbu, 25.6), exact(0.0, Quantity::HbmRead, 671_088_640.0), exact(0.0, Quantity::HbmWrite, 67_108_864.0), exact(0.01, Quantity::Ridge, 223.78146), shown(Quantity::DmaActive, 3820.0)],
    )
    .note("PSUM is emptied by the Scalar engine; a block of rows is stored as soon as its last sum is there"),
    case(
        "7",
        "matmul optimized, 4096 x 4096 x 8192 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[4096,4096]:zeros"), ("rhs", "bf16[4096,8192]:zeros")],
        TUNE,
        &[close(10.0, Quantity::Latency, 3538.0)],
    ),
    case(
        "8",
        "matmul optimized, 4096 x 8192 x 4096 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[8192,4096]:zeros"), ("rhs", "bf16[8192,4096]:zeros")],
        TUNE,
        &[close(10.0, Quantity::Latency, 3539.0)],
    ),
    case(
        "13",
        "matmul optimized, 8192 x 8192 x 8192 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[8192,8192]:zeros"), ("rhs", "bf16[8192,8192]:zeros")],
        TUNE,
        &[close(10.0, Quantity::Latency, 14720.0)],
    )
    .note("128 KiB of sums a partition leave room for half of the next stationary tiles, so the PE array waits"),
    case(
        "10",
        "matmul optimized, 8192 x 4096 x 4096 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[4096,8192]:zeros"), ("rhs", "bf16[4096,4096]:zeros")],
        TUNE,
        &[close(15.0, Quantity::Latency, 3876.0)],
    )
    .note("128 KiB of sums a partition leave room for half of the next stationary tiles, so the PE array waits"),
    case(
        "11",
        "matmul optimized, 8192 x 4096 x 8192 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[4096,8192]:zeros"), ("rhs", "bf16[4096,8192]:zeros")],
        TUNE,
        &[close(15.0, Quantity::Latency, 7516.0)],
    )
    .note("128 KiB of sums a partition leave room for half of the next stationary tiles, so the PE array waits"),
    case(
        "12",
        "matmul optimized, 8192 x 8192 x 4096 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[8192,8192]:zeros"), ("rhs", "bf16[8192,4096]:zeros")],
        TUNE,
        &[close(15.0, Quantity::Latency, 7476.0)],
    )
    .note("128 KiB of sums a partition leave room for half of the next stationary tiles, so the PE array waits"),
    case(
        "6",
        "matmul optimized, 4096 x 4096 x 4096 bf16",
        ("matmul", "optimized"),
        &[("lhsT", "bf16[4096,4096]:zeros"), ("rhs", "bf16[4096,4096]:zeros")],
        TUNE,
        &[shown(Quantity::Latency, 2694.0)],
    )
    .note("an outlier of its own series: twice the time of row 9 for a quarter of the work would be 1.75 ms"),
    case(
        "15",
        "Mamba v1, 256 channels, 512 steps",
        ("mamba", "v1"),
        &[("delta", "f32[256,512]:zeros"), ("u", "f32[256,512]:zeros"), ("A", "f32[256,16]:zeros"), ("B", "f32[16,512]:zeros"), ("C", "f32[16,512]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 172.93), shown(Quantity::Active(Engine::Vector), 150.93)],
    )
    .note("the input loads of the first states are not hidden on the device"),
    case(
        "16",
        "Mamba v1, 4096 channels, 512 steps",
        ("mamba", "v1"),
        &[("delta", "f32[4096,512]:zeros"), ("u", "f32[4096,512]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,512]:zeros"), ("C", "f32[16,512]:zeros")],
        MAMBA,
        &[close(10.0, Quantity::Latency, 2340.0), close(10.0, Quantity::Active(Engine::Vector), 2120.0)],
    ),
    case(
        "17",
        "Mamba v2, 4096 channels, 512 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,512]:zeros"), ("u", "f32[4096,512]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,512]:zeros"), ("C", "f32[16,512]:zeros")],
        MAMBA,
        &[close(10.0, Quantity::Latency, 1610.0), close(10.0, Quantity::Active(Engine::Vector), 1570.0)],
    )
    .note("one chunk: versions 2 and 3 are the same; the measured instructions show the product of delta and u hoisted"),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 1024 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,1024]:zeros"), ("u", "f32[4096,1024]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,1024]:zeros"), ("C", "f32[16,1024]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 3300.0)],
    ),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 2048 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,2048]:zeros"), ("u", "f32[4096,2048]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,2048]:zeros"), ("C", "f32[16,2048]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 6600.0)],
    ),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 3072 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,3072]:zeros"), ("u", "f32[4096,3072]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,3072]:zeros"), ("C", "f32[16,3072]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 10100.0)],
    ),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 4096 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,4096]:zeros"), ("u", "f32[4096,4096]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,4096]:zeros"), ("C", "f32[16,4096]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 13300.0)],
    ),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 5120 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,5120]:zeros"), ("u", "f32[4096,5120]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,5120]:zeros"), ("C", "f32[16,5120]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 17300.0)],
    ),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 6144 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,6144]:zeros"), ("u", "f32[4096,6144]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,6144]:zeros"), ("C", "f32[16,6144]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 19600.0)],
    ),
    case(
        "20-27",
        "Mamba v3, 4096 channels, 7168 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,7168]:zeros"), ("u", "f32[4096,7168]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,7168]:zeros"), ("C", "f32[16,7168]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 24200.0)],
    ),
    case(
        "19",
        "Mamba v3, 4096 channels, 8192 steps",
        ("mamba", "v3"),
        &[("delta", "f32[4096,8192]:zeros"), ("u", "f32[4096,8192]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,8192]:zeros"), ("C", "f32[16,8192]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 27800.0), close(10.0, Quantity::Active(Engine::Vector), 26260.0)],
    ),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 1024 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,1024]:zeros"), ("u", "f32[4096,1024]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,1024]:zeros"), ("C", "f32[16,1024]:zeros")],
        MAMBA,
        &[close(15.0, Quantity::Latency, 4400.0)],
    )
    .spilled(),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 2048 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,2048]:zeros"), ("u", "f32[4096,2048]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,2048]:zeros"), ("C", "f32[16,2048]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 8900.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 3072 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,3072]:zeros"), ("u", "f32[4096,3072]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,3072]:zeros"), ("C", "f32[16,3072]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 13100.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 4096 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,4096]:zeros"), ("u", "f32[4096,4096]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,4096]:zeros"), ("C", "f32[16,4096]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 17600.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 5120 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,5120]:zeros"), ("u", "f32[4096,5120]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,5120]:zeros"), ("C", "f32[16,5120]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 23700.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 6144 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,6144]:zeros"), ("u", "f32[4096,6144]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,6144]:zeros"), ("C", "f32[16,6144]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 27500.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "20-27",
        "Mamba v2, 4096 channels, 7168 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,7168]:zeros"), ("u", "f32[4096,7168]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,7168]:zeros"), ("C", "f32[16,7168]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 41300.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "18",
        "Mamba v2, 4096 channels, 8192 steps",
        ("mamba", "v2"),
        &[("delta", "f32[4096,8192]:zeros"), ("u", "f32[4096,8192]:zeros"), ("A", "f32[4096,16]:zeros"), ("B", "f32[16,8192]:zeros"), ("C", "f32[16,8192]:zeros")],
        MAMBA,
        &[spilled(30.0, Quantity::Latency, 52200.0)],
    )
    .note("the compiler of the time spilled by rules that nobody published; ours spills only what does not fit")
    .spilled(),
    case(
        "31",
        "NKIBench matmul, K 5120, M 4096, N 12288 f32",
        ("gemm", "matmul"),
        &[("x", "f32[4096,5120]:zeros"), ("w", "f32[5120,12288]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 35_200.0), shown(Quantity::HbmRead, 9_059_762_176.0), exact(0.0, Quantity::HbmWrite, 201_326_592.0), exact(0.0, Quantity::Flops, 1_159_641_169_920.0), exact(0.0, Quantity::TransposeFlops, 128_849_018_880.0)],
    )
    .fetched("matmul_M4096_N12288_K5120_0.py", &[("v1", "f32[32,128,40,128]:zeros"), ("v2", "f32[40,128,12288]:zeros")], "the text loads w once for a block of columns; on the device it was loaded for every block of rows"),
    case(
        "37",
        "NKIBench transpose_matmul, K 2048, M 4096, N 10944 f32",
        ("gemm", "transpose_matmul"),
        &[("xT", "f32[2048,4096]:zeros"), ("w", "f32[2048,10944]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 9610.0), exact(0.0, Quantity::HbmRead, 392_167_424.0), exact(0.0, Quantity::HbmWrite, 179_306_496.0), exact(0.0, Quantity::Flops, 377_957_122_048.0)],
    )
    .fetched("transpose_matmul_M4096_K2048_N10944_0.py", &[("v1", "f32[128,16,4096]:zeros"), ("v2", "f32[128,16,10944]:zeros")], "the text masks the last block; on the device it was computed in full"),
    case(
        "33",
        "NKIBench rmsnorm_matmul, K 1024, M 4096, N 2048 f32",
        ("gemm", "rmsnorm_matmul"),
        &[("x", "f32[4096,1024]:zeros"), ("w", "f32[1024,2048]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 1056.0), shown(Quantity::HbmRead, 39_387_136.0), exact(0.0, Quantity::HbmWrite, 33_554_432.0), exact(0.0, Quantity::Flops, 36_507_222_016.0)],
    )
    .fetched("rmsnorm_matmul_M4096_N2048_K1024_0.py", &[("v1", "f32[32,128,1024]:zeros"), ("v2", "f32[8,128,2048]:zeros")], "the text loads w again for every block of rows; on the device most of it was kept"),
    case(
        "30",
        "NKIBench add_rmsnorm_matmul, K 1024, M 4096, N 2048 f32",
        ("gemm", "add_rmsnorm_matmul"),
        &[("x", "f32[4096,1024]:zeros"), ("z", "f32[4096,1024]:zeros"), ("gain", "f32[1024]:zeros"), ("w", "f32[1024,2048]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 1222.0), shown(Quantity::HbmRead, 42_012_672.0), exact(0.0, Quantity::HbmWrite, 33_554_432.0), shown(Quantity::Flops, 42_949_935_104.0)],
    )
    .note("transposes without a hint take four passes; with one the kernel would be 12 % faster")
    .fetched("add_rmsnorm_matmul_M4096_N2048_K1024_0.py", &[("x_tensor", "f32[4096,1024]:zeros"), ("w_tensor", "f32[1024,2048]:zeros"), ("eps", "1e-05"), ("z_tensor", "f32[4096,1024]:zeros"), ("g_tensor", "f32[1024]:zeros")], "the text loads w for every block of rows; on the device it was loaded once"),
    case(
        "29",
        "NKIBench matmul_add_rmsnorm, K 2048, M 4096, N 2048 f32",
        ("gemm", "matmul_add_rmsnorm"),
        &[("x", "f32[4096,2048]:zeros"), ("w", "f32[2048,2048]:zeros"), ("z", "f32[4096,2048]:zeros"), ("gain", "f32[2048]:zeros")],
        BENCH,
        &[close(20.0, Quantity::Latency, 2667.0), shown(Quantity::HbmRead, 98_115_584.0), exact(0.0, Quantity::HbmWrite, 33_554_432.0), shown(Quantity::Flops, 85_899_870_208.0)],
    )
    .fetched("matmul_add_rmsnorm_M4096_N2048_K2048_0.py", &[("x_tensor", "f32[4096,2048]:zeros"), ("w_tensor", "f32[2048,2048]:zeros"), ("eps", "1e-05"), ("z_tensor", "f32[4096,2048]:zeros"), ("g_tensor", "f32[2048]:zeros")], "the text loads w for every block of rows; on the device most of it was loaded once"),
    case(
        "28",
        "NKIBench swiglu, K 1024, M 4096, N 3072 f32",
        ("gemm_chain", "swiglu"),
        &[("x", "f32[4096,1024]:zeros"), ("w_gate", "f32[1024,3072]:zeros"), ("w_up", "f32[1024,3072]:zeros"), ("w_down", "f32[3072,1024]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 4222.0), shown(Quantity::HbmRead, 141_623_296.0), exact(0.0, Quantity::HbmWrite, 83_886_080.0), exact(0.0, Quantity::Flops, 156_766_306_304.0)],
    )
    .fetched("swiglu_M4096_N3072_K1024_0.py", &[("v1", "f32[8,4,128,8,128]:zeros"), ("v2", "f32[8,128,3072]:zeros"), ("v3", "f32[24,128,1024]:zeros"), ("v4", "f32[8,128,3072]:zeros")], "the text transposes x six times; on the device it was transposed once and saved"),
    case(
        "38",
        "NKIBench lora, K 5120, M 4096, N 12288, R 128 f32",
        ("gemm_chain", "lora"),
        &[("x", "f32[4096,5120]:zeros"), ("w", "f32[5120,12288]:zeros"), ("a", "f32[5120,128]:zeros"), ("b", "f32[128,12288]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 30_166.0), shown(Quantity::HbmRead, 2_341_797_888.0), shown(Quantity::HbmWrite, 1_269_563_392.0), shown(Quantity::Flops, 1_114_581_762_048.0)],
    )
    .fetched("lora_M4096_N12288_K5120_R128_0.py", &[("v1", "f32[8,4,128,40,128]:zeros"), ("v2", "f32[40,128,12288]:zeros"), ("v3", "f32[40,128,128]:zeros"), ("v4", "f32[128,12288]:zeros")], "the text transposes x for every block of columns and keeps its sums; on the device the transposed x and the sums were saved"),
    case(
        "35",
        "NKIBench bmm, B 16, K 64, 4096 x 4096 f32",
        ("attention", "bmm"),
        &[("x", "f32[16,4096,64]:zeros"), ("w", "f32[16,64,4096]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 4611.0), shown(Quantity::HbmRead, 67_436_544.0), shown(Quantity::HbmWrite, 1_086_324_736.0), exact(0.0, Quantity::Flops, 70_866_960_384.0)],
    )
    .fetched("bmm_B16_M4096_K64_N4096_0.py", &[("v1", "f32[16,4096,64]:zeros"), ("v2", "f32[16,64,4096]:zeros")], "the text transposes x for every block of columns; on the device once, and saved"),
    case(
        "40",
        "NKIBench silu, best variant, 4096 x 7168 f32",
        ("pointwise", "silu"),
        &[("x", "f32[4096,7168]:zeros")],
        BENCH,
        &[close(15.0, Quantity::Latency, 798.0), exact(0.0, Quantity::HbmRead, 117_440_512.0), exact(0.0, Quantity::HbmWrite, 117_440_512.0)],
    )
    .note("294 GB/s is the highest rate ever published; the model sustains the 272 of the vendor's guide")
    .fetched("silu_M4096_N7168_0.py", &[("v1", "f32[128,32,7168]:zeros")], "the baseline, measured at 1333 us: it takes the reciprocal of a sum on the Vector engine at 8 cycles an element"),
    case(
        "34",
        "NKIBench rope, 64 heads, 4096 positions, 128 deep f32",
        ("pointwise", "rope"),
        &[("x", "f32[128,262144]:zeros"), ("cos", "f32[64,262144]:zeros"), ("sin", "f32[64,262144]:zeros")],
        BENCH,
        &[fit(close(5.0, Quantity::Active(Engine::Vector), 3104.0)), close(25.0, Quantity::Latency, 4333.0), exact(0.0, Quantity::HbmRead, 268_435_456.0), exact(0.0, Quantity::HbmWrite, 134_217_728.0)],
    )
    .note("what kept the Vector engine idle for 28 % of the measured time is not known; the best variant took 3333 us, with the same instructions")
    .fetched("rope_single_freq_apply_B1_H64_N4096_D128_0.py", &[("x_in", "f32[128,262144]:zeros"), ("cos", "f32[64,262144]:zeros"), ("sin", "f32[64,262144]:zeros")], "the text has no copies between halves of the partitions; the Scalar engine of the measured run made three a tile"),
    case(
        "1",
        "matmul tiled, 4096 x 8192 x 8192 bf16",
        ("matmul", "tiled"),
        &[("lhsT", "bf16[8192,4096]:zeros"), ("rhs", "bf16[8192,8192]:zeros")],
        MATMUL,
        &[fit(far(30.0, Quantity::Latency, 51800.0))],
    )
    .note("the efficiency of rows of 256 B to 1 KiB is read from rows 1 to 3"),
    case(
        "2",
        "matmul hoisted, 4096 x 8192 x 8192 bf16",
        ("matmul", "hoisted"),
        &[("lhsT", "bf16[8192,4096]:zeros"), ("rhs", "bf16[8192,8192]:zeros")],
        MATMUL,
        &[fit(far(30.0, Quantity::Latency, 42960.0))],
    )
    .note("the efficiency of rows of 256 B to 1 KiB is read from rows 1 to 3"),
    case(
        "3",
        "matmul blocked, 4096 x 8192 x 8192 bf16",
        ("matmul", "blocked"),
        &[("lhsT", "bf16[8192,4096]:zeros"), ("rhs", "bf16[8192,8192]:zeros")],
        MATMUL,
        &[fit(far(30.0, Quantity::Latency, 22070.0))],
    )
    .note("the efficiency of rows of 256 B to 1 KiB is read from rows 1 to 3"),
    case(
        "42",
        "conv2d, 256 to 256 channels, 224 x 224 f16",
        ("conv", "conv2d"),
        &[("x", "f16[256,224,224]:zeros"), ("weights", "f16[256,256,3,3]:zeros"), ("bias", "f32[256]:zeros")],
        COURSE,
        &[far(20.0, Quantity::Latency, 1054.0)],
    )
    .note("the PE array never waits in the model; on the device it did for a sixth of the time"),
    case(
        "42",
        "conv2d, 256 to 256 channels, 224 x 224 f32",
        ("conv", "conv2d"),
        &[("x", "f32[256,224,224]:zeros"), ("weights", "f32[256,256,3,3]:zeros"), ("bias", "f32[256]:zeros")],
        COURSE,
        &[far(20.0, Quantity::Latency, 3676.0)],
    ),
    case(
        "46",
        "vector_add_tiled, a row a step, 25 600 elements",
        ("stream", "tiled"),
        &[("a", "f32[25600]:zeros"), ("b", "f32[25600]:zeros"), ("rows", "1")],
        COURSE,
        &[far(25.0, Quantity::Latency, 27_404.0)],
    )
    .note("two sets of tiles, which both step sizes ask for"),
    case(
        "47",
        "vector_add_tiled, 128 rows a step, 25 600 elements",
        ("stream", "tiled"),
        &[("a", "f32[25600]:zeros"), ("b", "f32[25600]:zeros"), ("rows", "128")],
        COURSE,
        &[far(25.0, Quantity::Latency, 206.0)],
    ),
    case(
        "48",
        "vector_add_stream, free size 2, 25 600 elements",
        ("stream", "stream"),
        &[("a", "f32[25600]:zeros"), ("b", "f32[25600]:zeros"), ("free", "2")],
        COURSE,
        &[far(35.0, Quantity::Latency, 53.0)],
    )
    .note("rows of 8 bytes: what an engine takes for rows below 256 B is known at 4 bytes only"),
    case(
        "48",
        "vector_add_stream, free size 200, 25 600 elements",
        ("stream", "stream"),
        &[("a", "f32[25600]:zeros"), ("b", "f32[25600]:zeros"), ("free", "200")],
        COURSE,
        &[far(25.0, Quantity::Latency, 19.0)],
    ),
    case(
        "32",
        "NKIBench gqa_full, 16 heads on 8, 4096 positions f32",
        ("attention", "gqa"),
        &[("q", "f32[4096,2048]:zeros"), ("k", "f32[4096,1024]:zeros"), ("v", "f32[4096,1024]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[far(30.0, Quantity::Latency, 19_111.0), shown(Quantity::HbmRead, 1_194_393_600.0), shown(Quantity::HbmWrite, 1_132_986_368.0), shown(Quantity::Flops, 418_759_311_360.0)],
    )
    .fetched("gqa_full_B1_N4096_QH16_KH8_D128_0.py", &[("v1", "f32[32,128,16,128]:zeros"), ("v2", "f32[1,8,4,128,8,128]:zeros"), ("v3", "f32[1,32,128,1024]:zeros")], "the text keeps all scores of a head; on the device they were saved, and what the Scalar engine did stands on the Vector engine here"),
    case(
        "36",
        "NKIBench bmm_softmax, B 16, K 64, 4096 x 4096 f32",
        ("attention", "bmm_softmax"),
        &[("x", "f32[16,4096,64]:zeros"), ("w", "f32[16,64,4096]:zeros"), ("identity", "f32[128,128]:zeros")],
        BENCH,
        &[far(30.0, Quantity::Latency, 12_000.0), shown(Quantity::HbmRead, 794_361_856.0), shown(Quantity::HbmWrite, 1_827_405_824.0), exact(0.0, Quantity::Flops, 70_866_960_384.0)],
    )
    .fetched("bmm_softmax_B16_K64_M4096_N4096_0.py", &[("v1", "f32[16,4096,64]:zeros"), ("v2", "f32[16,64,4096]:zeros")], "copies and scales stand on the Vector engine here; on the device the Scalar engine made them"),
    case(
        "41",
        "NKIBench mamba, 256 channels, 7168 steps f32",
        ("mamba", "nkibench"),
        &[("delta", "f32[256,7168]:zeros"), ("u", "f32[256,7168]:zeros"), ("A", "f32[256,16]:zeros"), ("B", "f32[16,7168]:zeros"), ("C", "f32[16,7168]:zeros")],
        BENCH,
        &[far(30.0, Quantity::Latency, 2889.0), shown(Quantity::HbmRead, 181_682_176.0), shown(Quantity::HbmWrite, 62_390_272.0)],
    )
    .spilled()
    .fetched("mamba_M7168_C256_S16_0.py", &[("delta", "f32[256,7168]:zeros"), ("u", "f32[256,7168]:zeros"), ("a", "f32[256,16]:zeros"), ("b", "f32[16,7168]:zeros"), ("c", "f32[16,7168]:zeros")], "broadcasts are copied out of PSUM, which the measured activity does not show"),
    case(
        "39",
        "NKIBench adamw, best variant, 10944 x 2048 f32",
        ("pointwise", "adamw"),
        &[("theta", "f32[10944,2048]:zeros"), ("g", "f32[10944,2048]:zeros"), ("m", "f32[10944,2048]:zeros"), ("v", "f32[10944,2048]:zeros")],
        BENCH,
        &[far(30.0, Quantity::Latency, 1888.0), exact(0.0, Quantity::HbmRead, 358_612_992.0), exact(0.0, Quantity::HbmWrite, 89_653_248.0)],
    )
    .fetched("adamw_M10944_N2048_0.py", &[("v1", "f32[10944,2048]:zeros"), ("v2", "f32[10944,2048]:zeros"), ("v3", "f32[10944,2048]:zeros"), ("v4", "f32[10944,2048]:zeros")], "the baseline, measured at 2000 us: eight of its fourteen steps ran on the Scalar engine, all stand on the Vector engine here"),
    case(
        "51",
        "fused self-attention, 4096 positions, 128 deep bf16",
        ("library", "attention"),
        &[("q", "bf16[4096,128]:zeros"), ("k", "bf16[4096,128]:zeros"), ("v", "bf16[4096,128]:zeros")],
        SAMPLES,
        &[limit(480.0)],
    )
    .note("a limit of a unit test"),
];
