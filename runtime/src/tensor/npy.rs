//! `.npy` files: NumPy's header, and the elements behind it.
//!
//! Takes a reader of any origin, gives a tensor of one of our dtypes: 64-bit elements are narrowed to 32 bits, other
//! byte orders and Fortran order are put right. The header's claims are checked against limits before memory is taken.

use super::arg::Loaded;
use super::element::Element;
use super::{Error, MAX_BYTES, Tensor};
use crate::output;
use nk_compiler::dtype::Dtype;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub shape: Vec<usize>,
    pub element: Element,
    is_big_endian: bool,
    is_fortran: bool,
}

/// Names of dtypes after the byte order.
const DESCRS: &[(&str, Element)] = &[
    ("f4", Element::Is(Dtype::F32)),
    ("f2", Element::Is(Dtype::F16)),
    ("i4", Element::Is(Dtype::I32)),
    ("u4", Element::Is(Dtype::U32)),
    ("i2", Element::Is(Dtype::I16)),
    ("u2", Element::Is(Dtype::U16)),
    ("i1", Element::Is(Dtype::I8)),
    ("u1", Element::Is(Dtype::U8)),
    ("b1", Element::Is(Dtype::Bool)),
    ("f8", Element::F64),
    ("i8", Element::I64),
    ("u8", Element::U64),
    ("V1", Element::Raw(1)),
    ("V2", Element::Raw(2)),
    ("V4", Element::Raw(4)),
    // What ml_dtypes calls float8_e5m2.
    ("f1", Element::Raw(1)),
];

/// Headers are a line of text; a longer one is an attack.
const MAX_HEADER_BYTES: usize = 1 << 16;
/// NumPy's own limit.
const MAX_RANK: usize = 64;

/// NumPy's name for a dtype.
pub fn descr(dtype: Dtype) -> Option<String> {
    let name = DESCRS.iter().find(|it| it.1 == Element::Is(dtype))?.0;
    let order = if dtype.size() == 1 { '|' } else { '<' };
    Some(format!("{order}{name}"))
}

impl Header {
    /// The dtype and shape of the tensor that [`read`] will give.
    pub fn facts(&self, path: &str, given: Option<Dtype>) -> Result<(Dtype, Vec<usize>), Error> {
        Ok((self.element.dtype(path, given)?, self.shape.clone()))
    }
}

/// Reads the header and leaves the reader at the elements.
pub fn read_header(path: &str, reader: &mut impl Read) -> Result<Header, Error> {
    let mut start = [0; 8];
    read_exactly(path, reader, &mut start)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(Error::malformed(
            path,
            "this is no npy file: it does not begin with \\x93NUMPY",
        ));
    }
    let n_bytes = match start[6] {
        1 => {
            let mut length = [0; 2];
            read_exactly(path, reader, &mut length)?;
            usize::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0; 4];
            read_exactly(path, reader, &mut length)?;
            u32::from_le_bytes(length) as usize
        }
        version => {
            return Err(Error::malformed(
                path,
                format!("npy version {version} is not known"),
            ));
        }
    };
    if n_bytes > MAX_HEADER_BYTES {
        return Err(Error::malformed(
            path,
            format!("its header has {n_bytes} bytes; at most {MAX_HEADER_BYTES} are read"),
        ));
    }
    let mut text = vec![0; n_bytes];
    read_exactly(path, reader, &mut text)?;
    let text = str::from_utf8(&text).map_err(|_| Error::malformed(path, "its header is not text"))?;
    HeaderText { path, rest: text }.header()
}

/// Reads the elements behind a header.
pub fn read_elements(
    path: &str,
    header: &Header,
    given: Option<Dtype>,
    reader: &mut impl Read,
) -> Result<Loaded, Error> {
    let dtype = header.element.dtype(path, given)?;
    let size = u64::from(header.element.size());
    let n_bytes = header
        .shape
        .iter()
        .try_fold(size, |product, &it| product.checked_mul(it as u64));
    let n_bytes = n_bytes
        .filter(|&it| it <= MAX_BYTES)
        .ok_or_else(|| Error::TooLarge {
            what: path.to_string(),
            bytes: n_bytes,
        })?;
    // The buffer grows with what is really there, so a short file that claims a large shape costs nothing.
    let mut bytes = Vec::new();
    reader
        .take(n_bytes)
        .read_to_end(&mut bytes)
        .map_err(|it| Error::io(path, &it))?;
    if bytes.len() as u64 != n_bytes {
        return Err(Error::malformed(
            path,
            format!(
                "its shape {:?} needs {n_bytes} bytes of elements; there are {}",
                header.shape,
                bytes.len()
            ),
        ));
    }
    if header.is_big_endian {
        bytes.chunks_exact_mut(size as usize).for_each(<[u8]>::reverse);
    }
    if header.is_fortran {
        bytes = row_major(&bytes, &header.shape, size as usize);
    }
    header.element.load(path, dtype, header.shape.clone(), bytes)
}

/// Writes a tensor.
pub fn write(tensor: &Tensor, descr: String, path: &Path) -> Result<PathBuf, Error> {
    let sizes: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        sizes.join(", ")
    );
    // NumPy aligns the elements to 64 bytes: magic, version and length take 10, the line's end 1.
    let n_padding = 64 - (header.len() + 11) % 64;
    header.extend(std::iter::repeat_n(' ', n_padding % 64));
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a header of six sizes is short");
    let shown = path.display().to_string();
    let write = |file: &mut dyn Write| {
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        file.write_all(tensor.bytes())
    };
    output::write_with(path, write).map_err(|it| Error::io(&shown, &it))?;
    Ok(path.to_path_buf())
}

fn read_exactly(path: &str, reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), Error> {
    reader.read_exact(bytes).map_err(|it| match it.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::malformed(path, "it ends inside its header"),
        _ => Error::io(path, &it),
    })
}

/// Puts column-major elements into row-major order.
fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = size;
    for &count in shape {
        strides.push(stride);
        stride *= count;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0; shape.len()];
    let mut offset = 0;
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[offset..offset + size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

/// The Python literal of a header, as far as it is read.
struct HeaderText<'a> {
    path: &'a str,
    rest: &'a str,
}

impl<'a> HeaderText<'a> {
    fn header(mut self) -> Result<Header, Error> {
        let mut descr = None;
        let mut is_fortran = None;
        let mut shape = None;
        self.expect("{")?;
        while !self.accept("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" => descr = Some(self.string()?),
                "fortran_order" => is_fortran = Some(self.flag()?),
                "shape" => shape = Some(self.shape()?),
                _ => return self.fail("an unknown key"),
            }
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        let (Some(descr), Some(is_fortran), Some(shape)) = (descr, is_fortran, shape) else {
            return self.fail("no descr, fortran_order or shape");
        };
        let (order, name) = descr.split_at_checked(1).unwrap_or(("", descr));
        let element = DESCRS.iter().find(|it| it.0 == name).map(|it| it.1);
        let Some(element) = element.filter(|_| matches!(order, "<" | ">" | "|" | "=")) else {
            return Err(Error::Dtype {
                path: self.path.to_string(),
                found: format!(
                    "its elements are `{}`, which NeuronCore has no dtype for",
                    &descr[..descr.len().min(20)]
                ),
                instead: "save it as float32, float16, an integer of at most 32 bits, or bool".to_string(),
            });
        };
        Ok(Header {
            shape,
            element,
            is_big_endian: order == ">",
            is_fortran,
        })
    }

    fn fail<T>(&self, what: &str) -> Result<T, Error> {
        Err(Error::malformed(self.path, format!("its header holds {what}")))
    }

    fn accept(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), Error> {
        if self.accept(token) {
            Ok(())
        } else {
            self.fail(&format!("no `{token}` where one must stand"))
        }
    }

    fn string(&mut self) -> Result<&'a str, Error> {
        let Some(quote) = ["'", "\""].into_iter().find(|it| self.accept(it)) else {
            return self.fail("something other than a plain name: structured arrays are not read");
        };
        let Some((text, rest)) = self.rest.split_once(quote).filter(|it| it.0.is_ascii()) else {
            return self.fail("a name without an end");
        };
        self.rest = rest;
        Ok(text)
    }

    fn flag(&mut self) -> Result<bool, Error> {
        if self.accept("True") {
            return Ok(true);
        }
        if self.accept("False") {
            Ok(false)
        } else {
            self.fail("a fortran_order that is no flag")
        }
    }

    fn shape(&mut self) -> Result<Vec<usize>, Error> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.accept(")") {
            self.rest = self.rest.trim_start();
            let n_digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, rest) = self.rest.split_at(n_digits);
            let Ok(size) = digits.parse::<usize>() else {
                return self.fail("a shape with a size that is no number");
            };
            // NumPy 1 on Windows wrote `3L`.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            shape.push(size);
            if shape.len() > MAX_RANK {
                return self.fail("a shape of too many dimensions");
            }
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }
}
