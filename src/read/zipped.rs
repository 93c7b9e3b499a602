//! Zip files, around the programs of PyTorch and the arrays of NumPy.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

/// Opens the zip file.
///
/// The offset is that of the file. Searching for another misreads archives of PyTorch, which end in records of both the
/// 32-bit and the 64-bit form, where a name happens to be as long as the latter.
pub fn open<B: AsRef<[u8]>>(bytes: B) -> Result<ZipArchive<Cursor<B>>, String> {
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let archive = ZipArchive::with_config(config, Cursor::new(bytes));
    archive.map_err(|error| format!("it is no zip file ({error})"))
}

/// The names of the entries, as many as there are of text.
pub fn names<B: AsRef<[u8]>>(archive: &ZipArchive<Cursor<B>>) -> Vec<String> {
    archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect()
}

/// The content of an entry, if it is of no more than so many bytes, or needs no inflating.
pub fn inflate<B: AsRef<[u8]>>(
    archive: &mut ZipArchive<Cursor<B>>,
    name: &str,
    max_inflated: u64,
) -> Result<Vec<u8>, String> {
    let mut entry = archive.by_name(name).map_err(|error| format!("`{name}` cannot be opened ({error})"))?;
    let limit = max_inflated.max(entry.compressed_size());
    let mut content = Vec::new();
    // One byte more than the limit, to tell "just fits" from "too large".
    let read = entry.by_ref().take(limit + 1).read_to_end(&mut content);
    let length = read.map_err(|error| format!("`{name}` is damaged ({error})"))?;
    if length as u64 > limit {
        return Err(format!("`{name}` inflates to more than {limit} bytes"));
    }
    Ok(content)
}
