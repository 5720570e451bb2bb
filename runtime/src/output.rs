//! Files that are whole or not there: what is written goes to a temporary name beside the file and is then renamed.
//!
//! Takes paths and bytes, writes files. An interrupted process leaves the file that was there before.

use std::fs::{File, Permissions, canonicalize, metadata, remove_file, rename, set_permissions};
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    write_with(path, |file| file.write_all(bytes.as_ref()))
}

/// Writes a file piece by piece.
pub fn write_with(path: &Path, pieces: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    // A pipe or a terminal cannot be replaced, and is never half a file.
    if metadata(path).is_ok_and(|it| !it.is_file()) {
        let mut file = BufWriter::new(File::create(path)?);
        pieces(&mut file)?;
        return file.flush();
    }
    // What a link names is replaced, not the link.
    let path = canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // The new file may be read, written and executed by those who might the old one; where nobody may write, nobody does.
    let permissions = metadata(&path).ok().map(|it| it.permissions());
    if permissions.as_ref().is_some_and(Permissions::readonly) {
        return Err(Error::from(ErrorKind::PermissionDenied));
    }
    let temporary = temporary(&path)?;
    let written = write_new(&temporary, pieces)
        .and_then(|()| permissions.map_or(Ok(()), |it| set_permissions(&temporary, it)))
        .and_then(|()| rename(&temporary, &path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = remove_file(&temporary);
    }
    written
}

fn write_new(path: &Path, pieces: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    pieces(&mut file)?;
    file.flush()
}

/// A hidden name beside the file that no other thread or process uses.
fn temporary(path: &Path) -> Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = path
        .file_name()
        .ok_or_else(|| Error::from(ErrorKind::IsADirectory))?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!(".{}.{}.{number}.tmp", name.to_string_lossy(), std::process::id());
    Ok(path.with_file_name(name))
}
