//! A remote file that is read in ranges.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use object_store::ObjectMeta;
use tokio::time::{Instant, sleep, timeout_at};

use super::blocks::Blocks;
use super::cache::{self, Entry};
use super::request::{self, Conditions};
use super::runtime::{self, Runtime};
use super::store::{self, Located};
use super::{Failure, Limits, Uri};
use crate::graph::RangeRead;

/// Number of bytes of the first request, enough to detect the file type.
const FIRST: u64 = 64 << 10;

/// Maximum size in bytes of a file that [`RemoteFile::finish`] keeps in memory.
const KEPT: u64 = 1 << 20;

/// Remote file that is read in ranges; ranges that were read stay in memory.
#[derive(Debug)]
pub struct RemoteFile {
    uri: Uri,
    server: Server,
    size: u64,
    etag: Option<String>,
    limits: Limits,
    state: Mutex<State>,
}

/// Access to the server of a file, until the deadline.
#[derive(Debug)]
pub(super) struct Server {
    runtime: &'static Runtime,
    pub located: Located,
    end: Instant,
    limits: Limits,
}

#[derive(Debug, Default)]
struct State {
    blocks: Blocks,
    /// Number of bytes that were read.
    read: u64,
    /// Whether `blocks` contains bytes that are not in the cache on disk.
    is_new: bool,
    failure: Option<Failure>,
}

impl Server {
    /// Connects to the server of a file.
    pub fn new(uri: &Uri, limits: Limits) -> Result<Self, Failure> {
        let runtime = runtime::current()?;
        let context = runtime.tokio.enter();
        let end = sleep(limits.deadline).deadline();
        let located = store::locate(uri, runtime)?;
        drop(context);
        Ok(Server { runtime, located, end, limits })
    }

    /// Waits for a request, at most until the deadline.
    pub fn wait<T>(&self, request: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let ended = self.runtime.tokio.block_on(async { timeout_at(self.end, request).await });
        ended.unwrap_or_else(|_| Err(Failure::Deadline(self.limits.deadline.as_secs())))
    }
}

/// Opens a remote file and reads its start.
///
/// # Errors
/// The file does not exist or cannot be accessed, or it has the ETag `known`. If the server
/// does not support range requests, the whole file is read, and must not exceed the memory limit.
pub fn open(uri: &Uri, limits: Limits, known: Option<&str>) -> Result<RemoteFile, Failure> {
    let server = Server::new(uri, limits)?;
    let cached = (limits.cache && known.is_none()).then(|| cache::load(uri)).flatten();
    let cached_etag = cached.as_ref().map(|entry| entry.etag.clone());
    let conditions = Conditions { other: known.map(str::to_owned).or(cached_etag), ..Conditions::default() };
    let has_condition = conditions.other.is_some();
    let first = FIRST.min(limits.memory);
    let start = server.wait(request::range(&server.located, 0, first, conditions, uri.scheme()));
    let mut state = State::default();
    let (size, etag) = match (start, cached) {
        (Ok(response), cached) => {
            let ObjectMeta { size, e_tag, .. } = response.meta;
            if known.is_some() && known == e_tag.as_deref() {
                return Err(Failure::Known);
            }
            match cached.filter(|entry| Some(&entry.etag) == e_tag.as_ref() && entry.size == size) {
                Some(entry) => state.blocks = entry.blocks,
                None => state.is_new = true,
            }
            state.read = response.bytes.len() as u64;
            state.blocks.insert(0, response.bytes);
            (size, e_tag)
        }
        (Err(Failure::Changed), Some(entry)) if has_condition => {
            state.blocks = entry.blocks;
            (entry.size, Some(entry.etag))
        }
        (Err(Failure::Changed), _) if known.is_some() => return Err(Failure::Known),
        (Err(Failure::PastEnd), _) => (0, None),
        (Err(Failure::NoRanges(_)), _) => {
            let (bytes, meta) = whole(&server, uri, limits)?;
            state.read = meta.size;
            if known.is_some() && known == meta.e_tag.as_deref() {
                return Err(Failure::Known);
            }
            state.blocks.insert(0, bytes);
            (meta.size, meta.e_tag)
        }
        (Err(failure), _) => return Err(failure),
    };
    Ok(RemoteFile { uri: uri.clone(), server, size, etag, limits, state: Mutex::new(state) })
}

/// Reads a file as a whole.
fn whole(server: &Server, uri: &Uri, limits: Limits) -> Result<(Bytes, ObjectMeta), Failure> {
    let mut bytes = Vec::new();
    let sink = |piece: &[u8]| {
        if (bytes.len() + piece.len()) as u64 > limits.memory {
            return Err(Failure::NoRanges(limits.memory));
        }
        bytes.extend_from_slice(piece);
        Ok(())
    };
    let meta = server.wait(request::whole(&server.located, sink, uri.scheme()))?;
    Ok((bytes.into(), meta))
}

impl RemoteFile {
    /// Returns the ETag, which changes with the content; `None` if the server sends no ETag.
    pub fn etag(&self) -> Option<&str> {
        self.etag.as_deref()
    }

    /// Returns the first bytes of the file: normally at least 64 KB, or the whole file.
    pub fn start(&self) -> Bytes {
        self.lock().blocks.start()
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// The file exceeds the limit of memory, or a request fails.
    pub fn whole(&self) -> Result<Bytes, Failure> {
        if self.size > self.limits.memory {
            return Err(Failure::Memory(self.limits.memory));
        }
        let size = usize::try_from(self.size).map_err(|_| Failure::Memory(self.limits.memory))?;
        if size == 0 {
            return Ok(Bytes::new());
        }
        match self.read(0, size) {
            Some(bytes) => Ok(bytes),
            None => Err(self.lock().failure.clone().unwrap_or(Failure::WrongRange)),
        }
    }

    /// Ends reading, stores the read ranges in the cache, and frees the memory of a large file.
    ///
    /// # Errors
    /// A request failed: all results that depend on this file must be discarded.
    pub fn finish(&self) -> Result<(), Failure> {
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if let Some(etag) = self.etag.clone().filter(|_| self.limits.cache && state.is_new) {
            cache::save(&self.uri, &Entry { etag, size: self.size, blocks: state.blocks.clone() });
        }
        if self.size > KEPT {
            let start = state.blocks.start();
            state.blocks = Blocks::default();
            state.blocks.insert(0, Bytes::copy_from_slice(&start[..start.len().min(FIRST as usize)]));
            state.read = 0;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a range of a file that must not have changed.
    fn request(&self, offset: u64, len: usize) -> Result<Bytes, Failure> {
        // A weak ETag never fulfills the condition, so weak ETags are compared below.
        let same = self.etag.clone().filter(|etag| !etag.starts_with("W/"));
        let conditions = Conditions { same, ..Conditions::default() };
        let (located, scheme) = (&self.server.located, self.uri.scheme());
        let response = self.server.wait(request::range(located, offset, len as u64, conditions, scheme));
        let response = match response {
            // The file had this range and the server supported ranges before, so the file changed.
            Err(Failure::PastEnd | Failure::NoRanges(_)) => return Err(Failure::Changed),
            other => other?,
        };
        if response.meta.size != self.size || response.meta.e_tag != self.etag {
            return Err(Failure::Changed);
        }
        (response.bytes.len() == len).then_some(response.bytes).ok_or(Failure::WrongRange)
    }
}

impl RangeRead for RemoteFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, len: usize) -> Option<Bytes> {
        let mut state = self.lock();
        if let Some(known) = state.blocks.get(offset, len) {
            return Some(known);
        }
        if state.failure.is_some() {
            return None;
        }
        let is_allowed = state.read.saturating_add(len as u64) <= self.limits.memory;
        let response = match is_allowed {
            true => self.request(offset, len),
            false => Err(Failure::Memory(self.limits.memory)),
        };
        match response {
            Ok(bytes) => {
                state.read += len as u64;
                state.is_new = true;
                state.blocks.insert(offset, bytes.clone());
                Some(bytes)
            }
            Err(failure) => {
                state.failure = Some(failure);
                None
            }
        }
    }
}
