//! The kernels of NKIBench, with the counters of their measured runs.

use super::{Case, Quantity, case, close, exact, far, fit, shown};
use nk_compiler::isa::Engine;

const BENCH: &str = "zhang677/AccelOpt, NKIBench: neuron-profile on trn1";

pub const CASES: &[Case] = &[
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
];
