//! The operators of the engines as data: ALU operators of Vector and GpSimd (`isa.md` §5.2) and functions of the Scalar
//! engine (§5.1).
//!
//! Facts only; what an operator computes is in the runtime's `lower` and `reference`.

/// How an ALU operator treats its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AluClass {
    /// Through f32.
    Arithmetic,
    /// On raw bits of integers.
    Bits,
}

/// The facts of one ALU operator (`isa.md` §5.2).
#[derive(Debug)]
pub struct AluFacts {
    pub op: AluOp,
    /// The name in NKI (`nl.add`) and in IR text.
    pub name: &'static str,
    /// Other spellings that real kernels use (`np.add` maps by name; these are extra).
    pub aliases: &'static [&'static str],
    pub class: AluClass,
    pub unary: bool,
    pub reduces: bool,
    pub compares: bool,
    /// Only GpSimd computes it (the Scalar engine may, in `activation`).
    pub gpsimd_only: bool,
    /// No engine computes it: it stands for a sequence of instructions, whose time `cost` charges.
    pub emulated: bool,
}

macro_rules! alu_ops {
    ($( $op:ident $name:literal $aliases:expr, $class:ident, $unary:literal, $reduces:literal, $compares:literal, $gpsimd:literal $(, $emulated:ident)?; )*) => {
        /// An ALU operator of the Vector and GpSimd engines.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum AluOp { $($op),* }

        /// Every ALU operator, in declaration order.
        pub const ALU_OPS: &[AluFacts] = &[ $( AluFacts {
            op: AluOp::$op, name: $name, aliases: $aliases, class: AluClass::$class,
            unary: $unary, reduces: $reduces, compares: $compares, gpsimd_only: $gpsimd,
            emulated: [$(stringify!($emulated),)? ""].len() == 2,
        } ),* ];
    };
}

// op, name, aliases, class, unary, reduces, compares, GpSimd only, emulated
alu_ops! {
    Add          "add"           &["sum"],   Arithmetic, false, true,  false, false;
    Subtract     "subtract"      &[],        Arithmetic, false, true,  false, false;
    Multiply     "multiply"      &["prod"],  Arithmetic, false, true,  false, false;
    Maximum      "maximum"       &["max"],   Arithmetic, false, true,  false, false;
    Minimum      "minimum"       &["min"],   Arithmetic, false, true,  false, false;
    Equal        "equal"         &[],        Arithmetic, false, false, true,  false;
    NotEqual     "not_equal"     &[],        Arithmetic, false, false, true,  false;
    GreaterEqual "greater_equal" &[],        Arithmetic, false, false, true,  false;
    Greater      "greater"       &[],        Arithmetic, false, false, true,  false;
    LessEqual    "less_equal"    &[],        Arithmetic, false, false, true,  false;
    Less         "less"          &[],        Arithmetic, false, false, true,  false;
    LogicalAnd   "logical_and"   &[],        Arithmetic, false, true,  false, false;
    LogicalOr    "logical_or"    &[],        Arithmetic, false, true,  false, false;
    LogicalXor   "logical_xor"   &[],        Arithmetic, false, true,  false, false;
    LogicalNot   "logical_not"   &[],        Arithmetic, true,  false, false, false;
    Power        "power"         &["pow"],   Arithmetic, false, false, false, true;
    Abs          "abs"           &[],        Arithmetic, true,  false, false, false;
    Rsqrt        "rsqrt"         &[],        Arithmetic, true,  false, false, true;
    Reciprocal   "reciprocal"    &[],        Arithmetic, true,  false, false, false;
    Divide       "divide"        &["true_divide"], Arithmetic, false, false, false, false, emulated;
    Mod          "mod"           &["remainder"],   Arithmetic, false, false, false, false, emulated;
    Fmod         "fmod"          &[],        Arithmetic, false, false, false, false, emulated;
    BitwiseNot   "invert"        &["bitwise_not"], Bits, true,  false, false, false;
    BitwiseAnd   "bitwise_and"   &[],        Bits,       false, true,  false, false;
    BitwiseOr    "bitwise_or"    &[],        Bits,       false, true,  false, false;
    BitwiseXor   "bitwise_xor"   &[],        Bits,       false, true,  false, false;
    ShiftLeft    "left_shift"    &[],        Bits,       false, false, false, false;
    ShiftRight   "right_shift"   &[],        Bits,       false, false, false, false;
    // Of `tensor_partition_reduce` only: a sum divided by the number of partitions.
    Average      "average"       &[],        Arithmetic, false, false, false, true;
}

impl AluOp {
    pub fn facts(self) -> &'static AluFacts {
        &ALU_OPS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn from_name(name: &str) -> Option<AluOp> {
        ALU_OPS
            .iter()
            .find(|it| it.name == name || it.aliases.contains(&name))
            .map(|it| it.op)
    }
}

/// A set of Scalar-engine functions whose tables are loaded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActTable {
    /// In every set.
    Common,
    ReciprocalSqrt,
    LogExp,
    Reciprocal,
    Gelu,
    Others,
}

/// The facts of one Scalar-engine function (`isa.md` §5.1).
#[derive(Debug)]
pub struct ActFacts {
    pub op: ActFn,
    pub name: &'static str,
    pub table: ActTable,
    /// What the tables of the hardware cover; outputs for other inputs are garbage by contract.
    pub valid: Range,
}

/// Inputs from `low` to `high` whose magnitude is at least `smallest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f32,
    pub high: f32,
    pub smallest: f32,
}

impl Range {
    pub const ALL: Range = Range::between(f32::NEG_INFINITY, f32::INFINITY);

    const fn between(low: f32, high: f32) -> Range {
        Range {
            low,
            high,
            smallest: 0.0,
        }
    }

    const fn magnitudes(smallest: f32, largest: f32) -> Range {
        Range {
            low: -largest,
            high: largest,
            smallest,
        }
    }

    /// Whether a number is outside; NaN, which lies nowhere, is not.
    pub fn excludes(&self, x: f32) -> bool {
        x < self.low || x > self.high || x.abs() < self.smallest
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = (self.low, self.high);
        if self.smallest > 0.0 {
            write!(f, "±[{:e}, {high:e}]", self.smallest)
        } else if low > 0.0 {
            write!(f, "[{low:e}, {high:e}]")
        } else {
            write!(f, "[{low}, {high}]")
        }
    }
}

macro_rules! act_fns {
    ($( $op:ident $name:literal $table:ident $valid:expr; )*) => {
        /// A function of the Scalar engine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum ActFn { $($op),* }

        /// Every Scalar-engine function, in declaration order.
        pub const ACT_FNS: &[ActFacts] =
            &[ $( ActFacts { op: ActFn::$op, name: $name, table: ActTable::$table, valid: $valid } ),* ];
    };
}

const ALL: Range = Range::ALL;

/// 2^exponent.
const fn two(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

// Membership of the table sets is not published (Q29): functions are grouped by the names seen in compiled kernels.
act_fns! {
    Copy               "copy"                  Common         ALL;
    Square             "square"                Common         ALL;
    Abs                "abs"                   Common         ALL;
    Sign               "sign"                  Common         ALL;
    Relu               "relu"                  Common         ALL;
    Exp                "exp"                   LogExp         ALL;
    Log                "log"                   LogExp         Range::between(two(-64), two(64));
    Softplus           "softplus"              LogExp         ALL;
    Sigmoid            "sigmoid"               LogExp         ALL;
    Silu               "silu"                  LogExp         ALL;
    SiluDx             "silu_dx"               LogExp         ALL;
    Tanh               "tanh"                  LogExp         ALL;
    Mish               "mish"                  LogExp         ALL;
    Gelu               "gelu"                  Gelu           ALL;
    GeluDx             "gelu_dx"               Gelu           ALL;
    GeluApprxTanh      "gelu_apprx_tanh"       Gelu           ALL;
    GeluApprxSigmoid   "gelu_apprx_sigmoid"    Gelu           ALL;
    GeluApprxSigmoidDx "gelu_apprx_sigmoid_dx" Gelu           ALL;
    Erf                "erf"                   Gelu           ALL;
    ErfDx              "erf_dx"                Gelu           ALL;
    Sin                "sin"                   Others         Range::between(-std::f32::consts::PI, std::f32::consts::PI);
    Arctan             "arctan"                Others         Range::between(-std::f32::consts::FRAC_PI_2, std::f32::consts::FRAC_PI_2);
    Sqrt               "sqrt"                  ReciprocalSqrt Range::between(two(-116), two(118));
    Rsqrt              "rsqrt"                 ReciprocalSqrt Range::between(two(-87), two(97));
    Reciprocal         "reciprocal"            Reciprocal     Range::magnitudes(two(-42), two(42));
}

impl ActFn {
    pub fn facts(self) -> &'static ActFacts {
        &ACT_FNS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn from_name(name: &str) -> Option<ActFn> {
        ACT_FNS.iter().find(|it| it.name == name).map(|it| it.op)
    }
}
