//! Files as bytes, mapped rather than copied.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;
use memmap2::Mmap;

/// The most bytes read of what is no regular file (a pipe, a device), which has no size to judge by.
const MAX_STREAM_BYTES: u64 = 4 << 30;

/// The content of the file at `path`.
///
/// A regular file is mapped: only the pages that are looked at are ever loaded.
pub fn read(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return stream(file);
    }
    if metadata.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the map is only read. Should another process cut the file meanwhile, the operating system
    // ends this one (SIGBUS); that is the price of not copying gigabytes of weights.
    let map = unsafe { Mmap::map(&file)? };
    Ok(Bytes::from_owner(map))
}

/// Everything that `reader` gives.
pub fn stream(reader: impl Read) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_STREAM_BYTES + 1).read_to_end(&mut bytes)?;
    if read as u64 > MAX_STREAM_BYTES {
        return Err(io::Error::other("there is no end to it"));
    }
    Ok(bytes.into())
}
