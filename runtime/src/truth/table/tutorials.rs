//! Kernels of the vendor's tutorials and tests, and of a course.

use super::{Case, Quantity, case, close, exact, far, fit, limit, shown, spilled};
use nk_compiler::isa::Engine;

const MATMUL: &str = "aws-neuron-sdk, general/nki/tutorials/matrix_multiplication.rst";
const TUNE: &str = "awslabs/nki-autotune, issue 25";
const MAMBA: &str = "aws-neuron-sdk, nki/guides/tutorials/fused_mamba.rst";
const COURSE: &str = "stanford-cs149/asst4-trainium: student measurements on trn1.2xlarge";
const SAMPLES: &str = "aws-neuron/nki-samples, test/unit at 5d97201";

const ALLOCATED: &str = "a limit of a unit test, which ours does not keep: the Vector engine takes maxima, copies and transposed weights out of PSUM, which the published kernel deals to three engines by hand";
const SHORT_ROWS: &str = "a limit of a unit test, which ours misses by what rows of 1 KiB cost: their efficiency is the weakest parameter of the model";

pub const CASES: &[Case] = &[
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
        "51",
        "fused self-attention, 4096 positions, 128 deep bf16",
        ("library", "attention"),
        &[("q", "bf16[4096,128]:zeros"), ("k", "bf16[4096,128]:zeros"), ("v", "bf16[4096,128]:zeros")],
        SAMPLES,
        &[limit(480.0)],
    )
    .note("a limit of a unit test"),
    case(
        "51",
        "fused self-attention, 4096 positions, 128 deep f32",
        ("library", "attention"),
        &[("q", "f32[4096,128]:zeros"), ("k", "f32[4096,128]:zeros"), ("v", "f32[4096,128]:zeros")],
        SAMPLES,
        &[limit(600.0)],
    )
    .note("a limit of a unit test; the published kernel multiplies in bf16, so does ours"),
    case(
        "51",
        "fused self-attention, 4096 positions, 64 deep f16",
        ("library", "attention"),
        &[("q", "f16[4096,64]:zeros"), ("k", "f16[4096,64]:zeros"), ("v", "f16[4096,64]:zeros")],
        SAMPLES,
        &[limit(520.0)],
    )
    .note("a limit of a unit test"),
    case(
        "52",
        "allocated self-attention, 4096 positions, 128 deep bf16",
        ("library", "attention"),
        &[("q", "bf16[4096,128]:zeros"), ("k", "bf16[4096,128]:zeros"), ("v", "bf16[4096,128]:zeros")],
        SAMPLES,
        &[shown(Quantity::Latency, 380.0)],
    )
    .note(ALLOCATED)
    .reordered(),
    case(
        "52",
        "allocated self-attention, 4096 positions, 128 deep f32",
        ("library", "attention"),
        &[("q", "f32[4096,128]:zeros"), ("k", "f32[4096,128]:zeros"), ("v", "f32[4096,128]:zeros")],
        SAMPLES,
        &[shown(Quantity::Latency, 410.0)],
    )
    .note(ALLOCATED)
    .reordered(),
    case(
        "52",
        "allocated self-attention, 5120 positions, 128 deep bf16",
        ("library", "attention"),
        &[("q", "bf16[5120,128]:zeros"), ("k", "bf16[5120,128]:zeros"), ("v", "bf16[5120,128]:zeros")],
        SAMPLES,
        &[shown(Quantity::Latency, 586.0)],
    )
    .note(ALLOCATED)
    .reordered(),
    case(
        "55",
        "RMSNorm and QKV, 128 x 512 to 512 f16",
        ("library", "rmsnorm_qkv"),
        &[("hidden", "f16[128,512]:zeros"), ("weights", "f16[512,512]:zeros")],
        SAMPLES,
        &[shown(Quantity::Latency, 25.0)],
    )
    .note(SHORT_ROWS)
    .reordered(),
    case(
        "55",
        "RMSNorm and QKV, 512 x 1024 to 384 bf16",
        ("library", "rmsnorm_qkv"),
        &[("hidden", "bf16[512,1024]:zeros"), ("weights", "bf16[1024,384]:zeros")],
        SAMPLES,
        &[shown(Quantity::Latency, 40.0)],
    )
    .note(SHORT_ROWS)
    .reordered(),
    case(
        "55",
        "RMSNorm and QKV, 128 x 1024 to 512 bf16",
        ("library", "rmsnorm_qkv"),
        &[("hidden", "bf16[128,1024]:zeros"), ("weights", "bf16[1024,512]:zeros")],
        SAMPLES,
        &[shown(Quantity::Latency, 28.0)],
    )
    .note(SHORT_ROWS)
    .reordered(),
    case(
        "55",
        "RMSNorm and QKV, 1024 x 8192 to 512 bf16",
        ("library", "rmsnorm_qkv"),
        &[("hidden", "bf16[1024,8192]:zeros"), ("weights", "bf16[8192,512]:zeros")],
        SAMPLES,
        &[limit(301.0)],
    )
    .reordered(),
];
