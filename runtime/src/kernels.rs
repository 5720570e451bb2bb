//! Row and matrix kernels: the machine code that instructions spend their time in.
//!
//! Takes pointers into the emulated memory from compiled code and the op table, gives values. Never chooses what to
//! compute. Every kernel is written once over [`lanes::Lanes`] and instantiated per CPU level; all levels give the same
//! bits.

mod lanes;
mod convert;
mod functions;
mod sine;
mod rows;
mod matrix;
mod plane;
mod moves;
mod field;
mod accumulate;
mod search;
mod statistics;
mod gather;
mod random;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use accumulate::{Cumulate, Scan, Start, TakeIn};
pub use field::{Field, Scalar, TileKernel};
pub use gather::{Gather, SharedGather, ShuffleRows};
pub use moves::{RowMove, RowSum, RowTerm, Side};
pub use plane::{Bulk, Identity, MatrixProduct, Plane, Turn};
pub use random::{Drop, Seed, Words};
pub use search::{Bounds, Find, Largest, Replace};
pub use statistics::{Aggregate, FoldBytes, FoldRows, Triples};

use lanes::One;
use matrix::{Product, Rows};
use nk_compiler::dtype::DTYPES;
use nk_compiler::isa::{ACT_FNS, ALU_OPS, ActFn};

/// A set of CPU instructions that kernels exist for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Avx512,
    /// AVX2 with FMA and F16C.
    Avx2,
    /// Whatever the compiler's target has.
    Portable,
}

/// Every level with the name that `NK_CPU` takes, the best first.
pub const LEVELS: &[(Level, &str)] = &[
    (Level::Avx512, "avx512"),
    (Level::Avx2, "avx2"),
    (Level::Portable, "portable"),
];

impl Level {
    /// Whether the CPU has the level's instructions.
    #[cfg(target_arch = "x86_64")]
    pub fn is_available(self) -> bool {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        match self {
            Level::Avx512 => {
                avx2 && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
            }
            Level::Avx2 => avx2,
            Level::Portable => true,
        }
    }

    /// Whether the CPU has the level's instructions.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        self == Level::Portable
    }

    /// The best level the CPU has, or the one that `NK_CPU` names if the CPU has it.
    pub fn detect() -> Level {
        let wanted = std::env::var("NK_CPU").ok();
        let usable = || LEVELS.iter().filter(|it| it.0.is_available());
        let named = wanted.and_then(|name| usable().find(|it| it.1 == name));
        named
            .or_else(|| usable().next())
            .map_or(Level::Portable, |it| it.0)
    }

    /// What is wrong with the level that `NK_CPU` names, if something is.
    pub fn mistake() -> Option<String> {
        let wanted = std::env::var("NK_CPU").ok().filter(|it| !it.is_empty())?;
        let usable = || LEVELS.iter().filter(|it| it.0.is_available()).map(|it| it.1);
        (!usable().any(|it| it == wanted)).then(|| {
            let names: Vec<&str> = usable().collect();
            format!("NK_CPU is `{wanted}`; this processor has {}", names.join(", "))
        })
    }

    /// The kernels of an available level.
    pub fn kernels(self) -> &'static Kernels {
        assert!(self.is_available(), "a level is only used when the CPU has it");
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => &avx512::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => &avx2::KERNELS,
            _ => &portable::KERNELS,
        }
    }
}

/// A row of f32 from a row of elements.
pub type LoadRow = unsafe extern "C" fn(to: *mut f32, from: *const u8, n: usize);
/// A row of elements from a row of f32.
pub type StoreRow = unsafe extern "C" fn(to: *mut u8, from: *const f32, n: usize);
/// The same with random rounding: `key` is the instruction's, and the elements are numbered from `index` on.
pub type StoreRandomRow = unsafe extern "C" fn(to: *mut u8, from: *const f32, n: usize, key: u64, index: u64);
/// How many values times `scale` plus `bias` lie outside of a function's range.
pub type OutsideRow =
    unsafe extern "C" fn(counter: *mut u64, from: *const f32, n: usize, scale: f32, bias: f32);
/// A function of each value times `scale` plus `bias`.
pub type FunctionRow = unsafe extern "C" fn(to: *mut f32, from: *const f32, n: usize, scale: f32, bias: f32);
/// A reduction of each of some rows of `n` words.
pub type ReduceRows = unsafe extern "C" fn(to: *mut u8, from: *const u8, rows: usize, n: usize);

/// The kernels of one level, as addresses for compiled code and for the op table.
///
/// The safety contract of each is that of the function of the same name in the submodules.
#[derive(Debug)]
pub struct Kernels {
    /// Indexed by [`nk_compiler::dtype::Dtype`].
    pub load: [LoadRow; DTYPES.len()],
    pub store: [StoreRow; DTYPES.len()],
    pub store_random: [StoreRandomRow; DTYPES.len()],
    /// Words from elements of one and two bytes, and back.
    pub widen: [unsafe extern "C" fn(to: *mut u32, from: *const u8, n: usize); 2],
    pub narrow: [unsafe extern "C" fn(to: *mut u8, from: *const u32, n: usize); 2],
    /// Indexed by [`ActFn`].
    pub function: [FunctionRow; ACT_FNS.len()],
    pub outside: [OutsideRow; ACT_FNS.len()],
    /// Indexed by [`nk_compiler::isa::AluOp`]; those that cannot reduce panic.
    pub reduce: [ReduceRows; ALU_OPS.len()],
    pub rsqrt: unsafe extern "C" fn(to: *mut f32, from: *const f32, n: usize),
    /// `power`, `mod`, `fmod`, `add`, `subtract` and `multiply`.
    pub binary: [unsafe extern "C" fn(to: *mut f32, a: *const f32, b: *const f32, n: usize); 6],
    pub clear_lanes: unsafe extern "C" fn(lanes: *mut f32),
    pub sum: unsafe extern "C" fn(lanes: *mut f32, from: *const f32, n: usize, phase: usize),
    pub add_lanes: unsafe extern "C" fn(register: *mut f32, lanes: *const f32) -> f32,
    pub multiply: unsafe extern "C" fn(product: &Product),
    pub transpose: unsafe extern "C" fn(dst: Rows, data: Rows, rows: usize, n: usize),
    pub turn: unsafe extern "C" fn(dst: Rows, data: Rows, rows: usize, n: usize),
}

/// The indices of a table, as const arguments.
macro_rules! table {
    ($function:ident: $($index:literal)*) => { [$($function::<$index>),*] };
}

/// One module of kernels per level.
///
/// Each function is compiled for the level's instructions, and everything it calls is inlined into it. Its safety contract
/// is that of the generic function that it instantiates.
macro_rules! level {
    ($name:ident, $lanes:ty, $attribute:tt) => {
        mod $name {
            use super::{Kernels, Product, Rows, convert, matrix, rows};
            use nk_compiler::isa::{ALU_OPS, AluClass, AluOp};

            level!(@functions $attribute;
                fn load<const D: u8>(to: *mut f32, from: *const u8, n: usize) {
                    convert::load_row::<$lanes, D>(to, from, n)
                }
                fn store<const D: u8>(to: *mut u8, from: *const f32, n: usize) {
                    convert::store_row::<$lanes, D>(to, from, n)
                }
                fn store_random<const D: u8>(to: *mut u8, from: *const f32, n: usize, key: u64, index: u64) {
                    convert::store_random_row::<$lanes, D>(to, from, n, key, index)
                }
                fn outside<const F: u8>(counter: *mut u64, from: *const f32, n: usize, scale: f32, bias: f32) {
                    rows::outside_row::<F>(counter, from, n, scale, bias)
                }
                fn function<const F: u8>(to: *mut f32, from: *const f32, n: usize, scale: f32, bias: f32) {
                    rows::function_row::<$lanes, F>(to, from, n, scale, bias)
                }
                fn reduce<const OP: u8>(to: *mut u8, from: *const u8, rows: usize, n: usize) {
                    if const { matches!(ALU_OPS[OP as usize].class, AluClass::Bits) } {
                        rows::reduce_bits::<OP>(to.cast(), from.cast(), rows, n)
                    } else {
                        rows::reduce_rows::<$lanes, OP>(to.cast(), from.cast(), rows, n)
                    }
                }
            );
            level!(@functions $attribute;
                fn widen<const SIZE: usize>(to: *mut u32, from: *const u8, n: usize) {
                    convert::widen_row::<SIZE>(to, from, n)
                }
                fn narrow<const SIZE: usize>(to: *mut u8, from: *const u32, n: usize) {
                    convert::narrow_row::<SIZE>(to, from, n)
                }
            );
            level!(@functions $attribute;
                fn rsqrt(to: *mut f32, from: *const f32, n: usize) {
                    rows::rsqrt_row::<$lanes>(to, from, n)
                }
                fn power(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
                    rows::power_row(to, a, b, n)
                }
                fn modulo(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
                    rows::modulo_row(to, a, b, n)
                }
                fn fmod(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
                    rows::fmod_row(to, a, b, n)
                }
                fn add(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
                    rows::arithmetic_row::<$lanes>(AluOp::Add, to, a, b, n)
                }
                fn subtract(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
                    rows::arithmetic_row::<$lanes>(AluOp::Subtract, to, a, b, n)
                }
                fn multiply_rows(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
                    rows::arithmetic_row::<$lanes>(AluOp::Multiply, to, a, b, n)
                }
                fn clear_lanes(lanes: *mut f32) {
                    rows::clear_lanes(lanes)
                }
                fn sum(lanes: *mut f32, from: *const f32, n: usize, phase: usize) {
                    rows::sum_row::<$lanes>(lanes, from, n, phase)
                }
                fn multiply(product: &Product) {
                    matrix::multiply::<$lanes>(product)
                }
                fn transpose(dst: Rows, data: Rows, rows: usize, n: usize) {
                    matrix::transpose::<$lanes>(dst, data, rows, n)
                }
                fn turn(dst: Rows, data: Rows, rows: usize, n: usize) {
                    matrix::turn::<$lanes, false>(dst, data, rows, n);
                }
            );

            /// As `rows::add_lanes`.
            unsafe extern "C" fn add_lanes(register: *mut f32, lanes: *const f32) -> f32 {
                // SAFETY: the caller's promise.
                unsafe { rows::add_lanes(register, lanes) }
            }

            pub static KERNELS: Kernels = Kernels {
                load: table!(load: 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
                store: table!(store: 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
                store_random: table!(store_random: 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
                widen: table!(widen: 1 2),
                narrow: table!(narrow: 1 2),
                function: table!(function: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24),
                outside: table!(outside: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24),
                reduce: table!(reduce: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28),
                rsqrt,
                binary: [power, modulo, fmod, add, subtract, multiply_rows],
                clear_lanes,
                sum,
                add_lanes,
                multiply,
                transpose,
                turn,
            };
        }
    };
    (@functions $attribute:tt; $(
        fn $function:ident $(<const $param:ident: $kind:ty>)? ($($arg:ident: $arg_type:ty),*) $body:block
    )*) => { $(
        # $attribute
        unsafe extern "C" fn $function $(<const $param: $kind>)? ($($arg: $arg_type),*) {
            // SAFETY: the caller's promise.
            unsafe { $body }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
level!(
    avx512,
    super::x86::Avx512,
    [target_feature(
        enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c"
    )]
);
#[cfg(target_arch = "x86_64")]
level!(avx2, super::x86::Avx2, [target_feature(enable = "avx2,fma,f16c")]);
level!(portable, super::One, [inline]);

/// A function of the Scalar engine on one value.
pub fn function(function: ActFn, x: f32) -> f32 {
    functions::apply::<One>(function, x)
}

/// 1 / sqrt x, as the ALU computes it.
pub fn rsqrt(x: f32) -> f32 {
    functions::rsqrt::<One>(x)
}

/// a^b with the special cases of C's `pow`.
pub fn power(a: f32, b: f32) -> f32 {
    functions::power(a, b)
}

/// The remainder of a / b with the sign of b, as Python's `%` gives it.
pub fn modulo(a: f32, b: f32) -> f32 {
    functions::modulo(a, b)
}
