//! What the elements of a file are, and what they become: a dtype of ours, or one that is narrowed to it.
//!
//! Takes bytes in row-major order, gives a tensor. Shared by the file formats; never reads files itself.

use super::arg::Loaded;
use super::{Error, Tensor};
use nk_compiler::dtype::Dtype;

/// What the file's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    Is(Dtype),
    F64,
    I64,
    U64,
    /// Raw words of so many bytes, which is how NumPy writes dtypes that are not its own.
    Raw(u32),
}

impl Element {
    /// Bytes in the file.
    pub fn size(self) -> u32 {
        match self {
            Element::Is(dtype) => dtype.size(),
            Element::F64 | Element::I64 | Element::U64 => 8,
            Element::Raw(size) => size,
        }
    }

    /// The dtype that the elements are given, if one is named, or that they have.
    pub fn dtype(self, path: &str, given: Option<Dtype>) -> Result<Dtype, Error> {
        let refuse = |found: String, instead: String| {
            Err(Error::Dtype {
                path: path.to_string(),
                found,
                instead,
            })
        };
        match (self, given) {
            (_, Some(dtype)) if dtype.size() == self.size() => Ok(dtype),
            (_, Some(dtype)) => refuse(
                format!(
                    "its elements have {} bytes, {} has {}",
                    self.size(),
                    dtype.name(),
                    dtype.size()
                ),
                "leave the dtype out, or name one of the same size".to_string(),
            ),
            (Element::Is(dtype), None) => Ok(dtype),
            (Element::F64, None) => Ok(Dtype::F32),
            (Element::I64, None) => Ok(Dtype::I32),
            (Element::U64, None) => Ok(Dtype::U32),
            (Element::Raw(size), None) => {
                let example = match size {
                    1 => "f8e4m3",
                    2 => "bf16",
                    _ => "tf32",
                };
                refuse(
                    format!("its elements are raw words of {size} bytes without a name"),
                    format!("say what they are, as in `@{path}:{example}`"),
                )
            }
        }
    }

    /// Makes a tensor of elements as they stand in the file.
    pub fn load(self, path: &str, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Result<Loaded, Error> {
        let mut bytes = bytes;
        let mut warnings = Vec::new();
        if self.size() == 8 {
            let from = match self {
                Element::F64 => "float64",
                Element::I64 => "int64",
                _ => "uint64",
            };
            bytes = self.narrow(path, from, dtype, &bytes)?;
            let to = dtype.nki_name();
            warnings.push(format!(
                "{path}: narrowed from {from} to {to}; NeuronCore has no 64-bit types"
            ));
        }
        if dtype == Dtype::Bool {
            bytes.iter_mut().for_each(|it| *it = u8::from(*it != 0));
        }
        let tensor = Tensor::new(dtype, shape, bytes);
        let tensor = tensor
            .ok_or_else(|| Error::malformed(path, "it does not hold as many elements as its shape says"))?;
        Ok(Loaded { tensor, warnings })
    }

    /// Narrows 64-bit elements to 32 bits, as the hardware's toolchain does; an integer that does not fit is an error.
    fn narrow(self, path: &str, from: &str, to: Dtype, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut narrowed = Vec::with_capacity(bytes.len() / 2);
        let (words, _) = bytes.as_chunks::<8>();
        for (idx, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let half = match self {
                Element::F64 => Some((f64::from_bits(word) as f32).to_bits()),
                Element::I64 => i32::try_from(word as i64).ok().map(|it| it as u32),
                _ => u32::try_from(word).ok(),
            };
            let half = half.ok_or_else(|| Error::Dtype {
                path: path.to_string(),
                found: format!(
                    "element {idx} of this {from} array is outside of {}",
                    to.nki_name()
                ),
                instead: "NeuronCore has no 64-bit types: save the array as one that fits".to_string(),
            })?;
            narrowed.extend_from_slice(&half.to_le_bytes());
        }
        Ok(narrowed)
    }
}
