//! Cache of read ranges on disk. An entry is valid while the file on the server has the same ETag.
//!
//! The cache folder is `ONNX_LINT_CACHE_DIR`, or `onnx-lint` in the platform's folder of caches. The cache
//! folder has [`SHARDS`] subfolders, each with at most [`SHARD_BYTES`]: the oldest entries are removed first.

use std::env;
use std::fs;
use std::hash::Hasher;
use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::{Buf, Bytes};
use rustc_hash::FxHasher;

use super::Uri;
use super::blocks::Blocks;

/// Number of subfolders.
const SHARDS: u64 = 64;

/// Maximum size of the entries in a subfolder, in bytes.
const SHARD_BYTES: u64 = 4 << 20;

/// Start of an entry; the number changes with the format.
const MAGIC: &[u8] = b"onnx-lint ranges 1\n";

/// Content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// ETag of the file.
    pub etag: String,
    /// Size of the file, in bytes.
    pub size: u64,
    pub blocks: Blocks,
}

/// Returns the entry of a file.
pub fn load(uri: &Uri) -> Option<Entry> {
    let bytes = fs::read(path(uri)?).ok()?;
    decode(Bytes::from(bytes), uri)
}

/// Stores the entry of a file.
///
/// If the URI [has secrets](Uri::has_secrets), or if the entry is too large, nothing is stored.
///
/// An ETag distinguishes only versions of one URL, but URLs with different queries would share an entry. A
/// failed write is ignored: the next run reads the file from the server again.
pub fn save(uri: &Uri, entry: &Entry) {
    let Some(path) = path(uri) else { return };
    let Some(shard) = path.parent() else { return };
    let bytes = encode(uri, entry);
    if bytes.len() as u64 > SHARD_BYTES || fs::create_dir_all(shard).is_err() {
        return;
    }
    remove_oldest(shard, SHARD_BYTES - bytes.len() as u64);
    if let Ok(mut file) = tempfile::NamedTempFile::new_in(shard)
        && file.write_all(&bytes).is_ok()
    {
        drop(file.persist(&path));
    }
}

/// Returns the folder of the cache, or `None` if no environment variable names a folder.
fn folder() -> Option<PathBuf> {
    let var = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = var("ONNX_LINT_CACHE_DIR") {
        return Some(folder);
    }
    // `LOCALAPPDATA` exists on Windows only, `Library/Caches` on macOS only.
    let mac = || var("HOME").map(|home| home.join("Library/Caches")).filter(|folder| folder.is_dir());
    let other = || var("HOME").map(|home| home.join(".cache"));
    let caches = var("XDG_CACHE_HOME").or_else(|| var("LOCALAPPDATA")).or_else(mac).or_else(other)?;
    Some(caches.join("onnx-lint"))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Returns the path of an entry, or `None` if the file is not cached.
fn path(uri: &Uri) -> Option<PathBuf> {
    let folder = folder().filter(|_| !uri.has_secrets())?;
    let hash = hash(uri.shown().as_bytes());
    Some(folder.join(format!("{:02x}", hash % SHARDS)).join(format!("{hash:016x}")))
}

fn encode(uri: &Uri, entry: &Entry) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let text = |text: &str, bytes: &mut Vec<u8>| {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    };
    text(uri.shown(), &mut bytes);
    text(&entry.etag, &mut bytes);
    bytes.extend(entry.size.to_le_bytes());
    for (offset, block) in entry.blocks.iter() {
        bytes.extend(offset.to_le_bytes());
        bytes.extend((block.len() as u64).to_le_bytes());
        bytes.extend(&block[..]);
    }
    let sum = hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Decodes a cache entry, or returns `None` if the entry is damaged or belongs to another URI.
fn decode(bytes: Bytes, uri: &Uri) -> Option<Entry> {
    let end = bytes.len().checked_sub(8)?;
    let (mut rest, mut sum) = (bytes.slice(..end), bytes.slice(end..));
    if hash(&rest) != sum.get_u64_le() || !rest.starts_with(MAGIC) {
        return None;
    }
    rest.advance(MAGIC.len());
    let text = |rest: &mut Bytes| {
        let len = usize::try_from(rest.try_get_u64_le().ok()?).ok().filter(|&len| len <= rest.len())?;
        String::from_utf8(rest.split_to(len).into()).ok()
    };
    let (of, etag) = (text(&mut rest)?, text(&mut rest)?);
    let size = rest.try_get_u64_le().ok()?;
    let mut blocks = Blocks::default();
    while !rest.is_empty() {
        let (offset, len) = (rest.try_get_u64_le().ok()?, rest.try_get_u64_le().ok()?);
        let len = usize::try_from(len).ok().filter(|&len| len <= rest.len())?;
        blocks.insert(offset, rest.split_to(len));
    }
    (of == **uri.shown()).then_some(Entry { etag, size, blocks })
}

/// Removes the oldest files of a folder until the remaining files have at most `limit` bytes in total.
fn remove_oldest(folder: &Path, limit: u64) {
    let Ok(listed) = fs::read_dir(folder) else { return };
    let known = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len(), entry.path()))
    };
    let mut files: Vec<_> = listed.filter_map(Result::ok).filter_map(known).collect();
    let mut total: u64 = files.iter().map(|(_, len, _)| len).sum();
    files.sort();
    for (_, len, path) in files {
        if total <= limit {
            break;
        }
        drop(fs::remove_file(path));
        total -= len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        Uri::parse(text).expect("it has a scheme").expect("it is supported")
    }

    #[test]
    fn entries_are_of_one_file_and_undamaged() {
        let mut blocks = Blocks::default();
        blocks.insert(0, Bytes::from_static(b"abc"));
        blocks.insert(9, Bytes::from_static(b"de"));
        let entry = Entry { etag: "\"1\"".to_owned(), size: 12, blocks };
        let (one, other) = (uri("https://h/a?sig=secret"), uri("https://h/b"));
        let encoded = encode(&one, &entry);
        assert!(!encoded.windows(6).any(|window| window == b"secret"));
        assert_eq!(decode(Bytes::from(encoded.clone()), &one), Some(entry));
        assert_eq!(decode(Bytes::from(encoded.clone()), &other), None);
        for at in 0..encoded.len() {
            let mut damaged = encoded.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(Bytes::from(damaged), &one), None, "byte {at}");
            assert_eq!(decode(Bytes::from(encoded[..at].to_vec()), &one), None, "{at} bytes");
        }
    }

    #[test]
    fn the_oldest_entries_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, seconds) in [("c", 3), ("a", 1), ("b", 2)] {
            let path = folder.path().join(name);
            fs::write(&path, [0; 10]).expect("a file");
            let file = fs::File::options().write(true).open(&path).expect("a file");
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            file.set_modified(time).expect("its time can be set");
        }
        remove_oldest(folder.path(), 15);
        let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").filter_map(Result::ok).collect();
        assert_eq!(left.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>(), ["c"]);
    }
}
