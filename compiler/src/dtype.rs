//! Element types of NeuronCore-v2: names, sizes, classes.
//!
//! Gives facts only; conversions live with the code that computes values.

/// An element type that NeuronCore-v2 has (`isa.md` §2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Dtype {
    F32,
    /// 32-bit container, 10 bits of mantissa.
    Tf32,
    Bf16,
    F16,
    /// IEEE-style 1/4/3 with infinity, largest finite value 240.
    F8e4m3,
    F8e5m2,
    F8e3m4,
    I32,
    U32,
    I16,
    U16,
    I8,
    U8,
    /// One byte, 0 or 1.
    Bool,
}

/// Short name (ours, in IR text and messages) and NKI's long name of each type, read both ways.
pub const DTYPES: &[(Dtype, &str, &str)] = &[
    (Dtype::F32, "f32", "float32"),
    (Dtype::Tf32, "tf32", "tfloat32"),
    (Dtype::Bf16, "bf16", "bfloat16"),
    (Dtype::F16, "f16", "float16"),
    (Dtype::F8e4m3, "f8e4m3", "float8_e4m3"),
    (Dtype::F8e5m2, "f8e5m2", "float8_e5m2"),
    (Dtype::F8e3m4, "f8e3m4", "float8_e3m4"),
    (Dtype::I32, "i32", "int32"),
    (Dtype::U32, "u32", "uint32"),
    (Dtype::I16, "i16", "int16"),
    (Dtype::U16, "u16", "uint16"),
    (Dtype::I8, "i8", "int8"),
    (Dtype::U8, "u8", "uint8"),
    (Dtype::Bool, "bool", "bool_"),
];

/// Element types that newer NeuronCores have and v2 has not, by short and long name, with the generation that has them
/// (`isa.md` §2.1).
pub const NEWER_DTYPES: &[(&str, &str, &str)] = &[
    ("f8e4m3fn", "float8_e4m3fn", "NeuronCore-v4"),
    ("f8e8m0fnu", "float8_e8m0fnu", "NeuronCore-v4"),
    ("f8e5m2_x4", "float8_e5m2_x4", "NeuronCore-v4"),
    ("f8e4m3fn_x4", "float8_e4m3fn_x4", "NeuronCore-v4"),
    ("f4e2m1fn_x4", "float4_e2m1fn_x4", "NeuronCore-v4"),
];

/// The generation that a type of [`NEWER_DTYPES`] needs.
pub fn newer_generation(name: &str) -> Option<&'static str> {
    NEWER_DTYPES
        .iter()
        .find(|it| it.0 == name || it.1 == name)
        .map(|it| it.2)
}

impl Dtype {
    /// The short name, e.g. `bf16`.
    pub fn name(self) -> &'static str {
        DTYPES[self as usize].1
    }

    /// NKI's name, e.g. `bfloat16`.
    pub fn nki_name(self) -> &'static str {
        DTYPES[self as usize].2
    }

    /// Reads a short or a long name.
    pub fn from_name(name: &str) -> Option<Dtype> {
        DTYPES
            .iter()
            .find(|it| it.1 == name || it.2 == name)
            .map(|it| it.0)
    }

    /// Bytes per element.
    pub fn size(self) -> u32 {
        match self {
            Dtype::F32 | Dtype::Tf32 | Dtype::I32 | Dtype::U32 => 4,
            Dtype::Bf16 | Dtype::F16 | Dtype::I16 | Dtype::U16 => 2,
            Dtype::F8e4m3 | Dtype::F8e5m2 | Dtype::F8e3m4 | Dtype::I8 | Dtype::U8 | Dtype::Bool => 1,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(
            self,
            Dtype::F32
                | Dtype::Tf32
                | Dtype::Bf16
                | Dtype::F16
                | Dtype::F8e4m3
                | Dtype::F8e5m2
                | Dtype::F8e3m4
        )
    }

    /// An integer type, `bool` included.
    pub fn is_int(self) -> bool {
        !self.is_float()
    }

    pub fn is_signed_int(self) -> bool {
        matches!(self, Dtype::I8 | Dtype::I16 | Dtype::I32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_declaration_order() {
        for (idx, (dtype, short, long)) in DTYPES.iter().enumerate() {
            assert_eq!(*dtype as usize, idx);
            assert_eq!(Dtype::from_name(short), Some(*dtype));
            assert_eq!(Dtype::from_name(long), Some(*dtype));
        }
    }
}
