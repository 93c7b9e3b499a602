//! Zip archives of PyTorch and NumPy.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

/// Opens a zip archive that starts at the first byte.
///
/// Searching for the start of the archive would misread some archives of PyTorch, which end in 32-bit and
/// 64-bit records: a directory entry with a short name can be as long as the 64-bit records.
pub fn open<B: AsRef<[u8]>>(bytes: B) -> Result<ZipArchive<Cursor<B>>, String> {
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let archive = ZipArchive::with_config(config, Cursor::new(bytes));
    archive.map_err(|error| format!("it is not a zip file ({error})"))
}

/// Returns the names of the entries; names that are not valid text are skipped.
pub fn names<B: AsRef<[u8]>>(archive: &ZipArchive<Cursor<B>>) -> Vec<String> {
    archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect()
}

/// Returns the content of an entry.
///
/// # Errors
/// The entry is missing or damaged, or it inflates to more bytes than both `max_inflated` and its compressed
/// size.
pub fn inflate<B: AsRef<[u8]>>(
    archive: &mut ZipArchive<Cursor<B>>,
    name: &str,
    max_inflated: u64,
) -> Result<Vec<u8>, String> {
    // The stated compressed size can be false, but entries end before the central directory.
    let entries_end = archive.central_directory_start();
    let mut entry = archive.by_name(name).map_err(|error| format!("`{name}` cannot be opened ({error})"))?;
    let limit = max_inflated.max(entry.compressed_size().min(entries_end));
    let mut content = Vec::new();
    // One byte more than the limit detects content that is too large.
    let read = entry.by_ref().take(limit + 1).read_to_end(&mut content);
    let length = read.map_err(|error| format!("`{name}` is damaged ({error})"))?;
    if length as u64 > limit {
        return Err(format!("`{name}` inflates to more than {limit} bytes"));
    }
    Ok(content)
}
