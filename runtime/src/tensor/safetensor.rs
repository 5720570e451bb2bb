//! `.safetensors` files: named tensors in all of our dtypes.
//!
//! Takes a path and a key, gives the tensor; writes one tensor a file. Only the header and the tensor's own bytes are
//! read. A dtype that the format has no name for stands under a plain one, with its real name in the metadata.

use super::arg::Loaded;
use super::element::Element;
use super::{Error, MAX_BYTES, Tensor};
use crate::output;
use nk_compiler::dtype::Dtype;
use safetensors::tensor::{Metadata, TensorView};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

type Name = safetensors::Dtype;

/// The format's names, and what we read them as. The name of a dtype's first line is the one it is written under, the
/// dtype of a name's first line the one it is read as.
const NAMES: &[(Name, Element)] = &[
    (Name::F32, Element::Is(Dtype::F32)),
    (Name::F32, Element::Is(Dtype::Tf32)),
    (Name::BF16, Element::Is(Dtype::Bf16)),
    (Name::F16, Element::Is(Dtype::F16)),
    (Name::F8_E4M3, Element::Is(Dtype::F8e4m3)),
    (Name::F8_E5M2, Element::Is(Dtype::F8e5m2)),
    (Name::U8, Element::Is(Dtype::U8)),
    (Name::U8, Element::Is(Dtype::F8e3m4)),
    (Name::I32, Element::Is(Dtype::I32)),
    (Name::U32, Element::Is(Dtype::U32)),
    (Name::I16, Element::Is(Dtype::I16)),
    (Name::U16, Element::Is(Dtype::U16)),
    (Name::I8, Element::Is(Dtype::I8)),
    (Name::BOOL, Element::Is(Dtype::Bool)),
    (Name::F64, Element::F64),
    (Name::I64, Element::I64),
    (Name::U64, Element::U64),
];

/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;
/// The key of the metadata that holds the real dtype of the tensor with this name.
const DTYPE_KEY: &str = "nk.dtype";

/// Where a tensor of a file lies, and what it is.
struct Entry {
    file: File,
    start: u64,
    n_bytes: u64,
    element: Element,
    dtype: Dtype,
    shape: Vec<usize>,
    /// The elements are float8_e4m3fn, whose codes above 240 are numbers.
    is_e4m3fn: bool,
}

/// Dtype and shape of a tensor.
pub fn facts(path: &str, key: Option<&str>, given: Option<Dtype>) -> Result<(Dtype, Vec<usize>), Error> {
    let entry = find(path, key, given)?;
    Ok((entry.dtype, entry.shape))
}

/// A tensor.
pub fn load(path: &str, key: Option<&str>, given: Option<Dtype>) -> Result<Loaded, Error> {
    let mut entry = find(path, key, given)?;
    if entry.n_bytes > MAX_BYTES {
        return Err(Error::TooLarge {
            what: path.to_string(),
            bytes: Some(entry.n_bytes),
        });
    }
    let mut bytes = Vec::new();
    let read = entry.file.seek(SeekFrom::Start(entry.start)).and_then(|_| {
        let mut elements = (&mut entry.file).take(entry.n_bytes);
        elements.read_to_end(&mut bytes)
    });
    read.map_err(|it| Error::io(path, &it))?;
    let mut warnings = Vec::new();
    if entry.is_e4m3fn {
        let n_large = saturate_e4m3fn(&mut bytes);
        if n_large > 0 {
            warnings.push(format!(
                "{path}: {n_large} float8_e4m3fn elements are above 240, which NeuronCore's float8_e4m3 ends at; they become infinite"
            ));
        }
    }
    let mut loaded = entry.element.load(path, entry.dtype, entry.shape, bytes)?;
    loaded.warnings.extend(warnings);
    Ok(loaded)
}

/// Turns the numbers above 240 into infinities; gives how many there were.
fn saturate_e4m3fn(bytes: &mut [u8]) -> usize {
    let mut n_large = 0;
    for byte in bytes {
        // 0x78 to 0x7e are 256 to 448 in e4m3fn; 0x7f is NaN in both.
        if (0x78..0x7f).contains(&(*byte & 0x7f)) {
            n_large += 1;
            *byte = *byte & 0x80 | 0x78;
        }
    }
    n_large
}

fn find(path: &str, key: Option<&str>, given: Option<Dtype>) -> Result<Entry, Error> {
    let mut file = File::open(path).map_err(|it| Error::io(path, &it))?;
    let file_bytes = file.metadata().map_err(|it| Error::io(path, &it))?.len();
    let mut length = [0; 8];
    file.read_exact(&mut length)
        .map_err(|_| Error::malformed(path, "it has no header"))?;
    let header_bytes = u64::from_le_bytes(length);
    if header_bytes > MAX_HEADER_BYTES.min(file_bytes.saturating_sub(8)) {
        return Err(Error::malformed(
            path,
            format!("its header claims {header_bytes} bytes"),
        ));
    }
    let mut header = Vec::new();
    let read = (&mut file).take(header_bytes).read_to_end(&mut header);
    read.map_err(|it| Error::io(path, &it))?;
    let metadata = serde_json::from_slice::<Metadata>(&header);
    let metadata =
        metadata.map_err(|it| Error::malformed(path, format!("its header cannot be read: {it}")))?;
    let tensors = metadata.tensors();
    let mut known: Vec<String> = tensors.keys().cloned().collect();
    known.sort();
    let name = match (key, &known[..]) {
        (Some(key), _) if tensors.contains_key(key) => key,
        (None, [only]) => only,
        _ => {
            return Err(Error::Key {
                path: path.to_string(),
                key: key.map(str::to_string),
                known,
            });
        }
    };
    let info = tensors[name];
    let noted = metadata.metadata().as_ref().and_then(|it| it.get(DTYPE_KEY));
    let noted = noted.and_then(|it| Dtype::from_name(it));
    let noted = noted.filter(|&it| NAMES.contains(&(info.dtype, Element::Is(it))));
    let element = NAMES.iter().find(|it| it.0 == info.dtype).map(|it| it.1);
    let element = element.ok_or_else(|| Error::Dtype {
        path: path.to_string(),
        found: format!(
            "its elements are {:?}, which NeuronCore has no dtype for",
            info.dtype
        ),
        instead: "save it as float32, bfloat16, float16, float8, an integer of at most 32 bits, or bool"
            .to_string(),
    })?;
    let (start, end) = (info.data_offsets.0 as u64, info.data_offsets.1 as u64);
    let data_start = 8 + header_bytes;
    if data_start + end > file_bytes {
        return Err(Error::malformed(path, format!("it ends inside of `{name}`")));
    }
    Ok(Entry {
        file,
        start: data_start + start,
        n_bytes: end - start,
        element,
        dtype: element.dtype(path, given.or(noted))?,
        shape: info.shape.clone(),
        is_e4m3fn: info.dtype == Name::F8_E4M3 && given.or(noted).is_none(),
    })
}

/// Writes a tensor under a name.
pub fn write(tensor: &Tensor, name: &str, path: &Path) -> Result<PathBuf, Error> {
    let shown = path.display().to_string();
    let stored = NAMES
        .iter()
        .find(|it| it.1 == Element::Is(tensor.dtype()))
        .expect("every dtype has a name")
        .0;
    let view = TensorView::new(stored, tensor.shape().to_vec(), tensor.bytes());
    let view = view.map_err(|it| Error::malformed(&shown, it.to_string()))?;
    let note = (DTYPE_KEY.to_string(), tensor.dtype().name().to_string());
    let bytes = safetensors::serialize([(name, view)], Some([note].into_iter().collect()));
    let bytes = bytes.map_err(|it| Error::malformed(&shown, it.to_string()))?;
    output::write(path, bytes).map_err(|it| Error::io(&shown, &it))?;
    Ok(path.to_path_buf())
}
