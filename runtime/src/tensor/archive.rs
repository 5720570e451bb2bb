//! `.npz` files: zip archives of `.npy` files.
//!
//! Takes a path and a key, gives the member. Members are unpacked only as far as their own header says, so a small
//! archive cannot fill the memory.

use super::Error;
use super::arg::Loaded;
use super::npy::{self, Header};
use nk_compiler::dtype::Dtype;
use std::fs::File;
use std::io::BufReader;
use zip::ZipArchive;
use zip::read::ZipFile;

/// The header of one array.
pub fn header(path: &str, key: Option<&str>) -> Result<Header, Error> {
    with_member(path, key, |member| npy::read_header(path, member))
}

/// One array.
pub fn load(path: &str, key: Option<&str>, given: Option<Dtype>) -> Result<Loaded, Error> {
    with_member(path, key, |member| {
        let header = npy::read_header(path, member)?;
        npy::read_elements(path, &header, given, member)
    })
}

type Member<'a> = ZipFile<'a, BufReader<File>>;

fn with_member<T>(
    path: &str,
    key: Option<&str>,
    read: impl FnOnce(&mut Member) -> Result<T, Error>,
) -> Result<T, Error> {
    let file = File::open(path).map_err(|it| Error::io(path, &it))?;
    let broken = |it: zip::result::ZipError| Error::malformed(path, format!("this is no npz archive: {it}"));
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let mut known: Vec<String> = archive
        .file_names()
        .flatten()
        .map(|it| it.strip_suffix(".npy").unwrap_or(&it).to_string())
        .collect();
    known.sort();
    let name = match (key, &known[..]) {
        (Some(key), _) if known.iter().any(|it| it == key) => key.to_string(),
        (None, [only]) => only.clone(),
        _ => {
            return Err(Error::Key {
                path: path.to_string(),
                key: key.map(str::to_string),
                known,
            });
        }
    };
    let full_name = format!("{name}.npy");
    let full_name = if archive.index_for_name(&full_name).is_some() {
        full_name
    } else {
        name
    };
    let mut member = archive.by_name(&full_name).map_err(broken)?;
    read(&mut member)
}
