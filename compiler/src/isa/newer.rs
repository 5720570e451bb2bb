//! Instructions that NeuronCore-v2 does not have: names and generations, so that a kernel that uses one hears which chip
//! would run it.
//!
//! Data only. A name stands here or in the table of rows, never in both.

use super::Generation;

/// An instruction of a newer NeuronCore.
#[derive(Debug)]
pub struct Newer {
    pub name: &'static str,
    /// The engine that executes it there.
    pub engine: &'static str,
    pub since: Generation,
    /// What does the same on v2.
    pub instead: &'static str,
}

macro_rules! newer {
    ($( $name:literal $engine:literal $since:ident $instead:literal; )*) => {
        /// Every instruction of newer NeuronCores, by name.
        pub const NEWER: &[Newer] = &[ $( Newer {
            name: $name, engine: $engine, since: Generation::$since, instead: $instead,
        } ),* ];
    };
}

newer! {
    "activate2"          "scalar" V4 "use nisa.tensor_scalar before nisa.activation";
    "core_barrier"       "gpsimd" V3 "leave it out: the cores of NeuronCore-v2 run kernels of their own";
    "exponential"        "vector" V4 "use nisa.activation(op=nl.exp) with bias and reduce_res";
    "nc_matmul_mx"       "tensor" V4 "scale the operands into bfloat16 and use nisa.nc_matmul";
    "nonzero_with_count" "gpsimd" V3 "use nisa.iota with a comparison and nisa.nc_find_index8";
    "quantize_mx"        "vector" V4 "scale by columns with nisa.tensor_scalar and copy into float8_e4m3";
    "rand2"              "vector" V4 "use nisa.rng and nisa.tensor_scalar";
    "rand_get_state"     "gpsimd" V3 "use nisa.set_rng_seed with a seed of your own";
    "rand_set_state"     "gpsimd" V3 "use nisa.set_rng_seed";
    "range_select"       "vector" V3 "use nisa.iota with comparisons, or nisa.affine_select";
    "sendrecv"           "dma"    V3 "go through HBM with nisa.dma_copy";
    "topk"               "gpsimd" V3 "use nisa.max8 with nisa.nc_find_index8 and nisa.nc_match_replace8";
}

/// Operators of `nki.language` that only newer engines compute, where an instruction takes an operator.
pub const NEWER_OPERATORS: &[(&str, Generation)] = &[
    ("abs_max", Generation::V4),
    ("abs_min", Generation::V4),
    ("bypass", Generation::V4),
    ("prelu", Generation::V4),
    ("relu", Generation::V4),
    ("square", Generation::V4),
];

/// Names and keywords of `nki.isa` that later releases took away, with what says the same.
pub const REMOVED: &[(&str, &str)] = &[
    (
        "builtin_custom_op",
        "write it with the instructions that `nk isa` lists",
    ),
    ("dst_rmw_op", "use nisa.dma_compute(dst, [dst, src], nl.add)"),
    ("psum_accumulate_flag", "use accumulate=True, False or None"),
    ("unique_indices", "use nisa.dma_compute, which has it"),
];
