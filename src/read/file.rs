//! Reads files as bytes; regular files are memory-mapped rather than copied.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;
use memmap2::Mmap;

/// Maximum number of bytes read from a pipe or a device, which has no known size.
const MAX_STREAM_BYTES: u64 = 4 << 30;

/// Returns the content of the file at `path`.
///
/// A regular file is memory-mapped: only the pages that are accessed are loaded.
pub fn read(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return stream(file);
    }
    if metadata.len() == 0 {
        return Ok(Bytes::new());
    }
    mapped(&file)
}

/// Maps a regular file that is not empty into memory.
pub fn mapped(file: &File) -> io::Result<Bytes> {
    // SAFETY: the map is only read. If another process truncates the file, the operating system ends this
    // process with SIGBUS. A map is used despite this risk, to avoid copying gigabytes of weights.
    let map = unsafe { Mmap::map(file)? };
    Ok(Bytes::from_owner(map))
}

/// Reads `reader` to its end.
///
/// # Errors
/// Reading fails, or yields more than 4 GiB.
pub fn stream(reader: impl Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_STREAM_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_STREAM_BYTES {
        return Err(io::Error::other("the stream is longer than 4 GiB"));
    }
    Ok(bytes.into())
}
