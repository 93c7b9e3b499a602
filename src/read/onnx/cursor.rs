//! A cursor over a file that is read in blocks, which skips ranges without reading them.

use bytes::Bytes;

use super::stop::Stop;
use crate::graph::RangeRead;

/// Size of the first block, in bytes.
const FIRST_BLOCK: usize = 64 << 10;

/// Largest size of a block, in bytes.
const LARGEST_BLOCK: usize = 1 << 20;

/// Smallest and largest size of the block after a skipped range, in bytes.
const AFTER_SKIP: (u64, u64) = (512, 16 << 10);

/// Size of a skipped range divided by the size of the block after the range.
const SKIPPED_SHARE: u64 = 128;

/// Longest encoding of a number, in bytes.
const LONGEST_VARINT: usize = 10;

/// Position in a file, with the current block.
#[derive(Debug)]
pub struct Cursor<'s> {
    source: &'s dyn RangeRead,
    /// Unread rest of the current block; it starts at `position`.
    block: Bytes,
    position: u64,
    /// Size of the next block, which doubles while blocks are adjacent.
    next: usize,
    copied: u64,
}

impl<'s> Cursor<'s> {
    /// Creates a cursor at the start of a file.
    pub fn new(source: &'s dyn RangeRead) -> Self {
        Cursor { source, block: Bytes::new(), position: 0, next: FIRST_BLOCK, copied: 0 }
    }

    /// Returns the position, in bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of bytes that were copied.
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// Skips `len` bytes.
    ///
    /// The size of the next block depends on `len`, to bound the share of the file that is read.
    pub fn skip(&mut self, len: u64) {
        self.position += len;
        match usize::try_from(len) {
            Ok(len) if len <= self.block.len() => drop(self.block.split_to(len)),
            _ => {
                self.block = Bytes::new();
                self.next = (len / SKIPPED_SHARE).clamp(AFTER_SKIP.0, AFTER_SKIP.1) as usize;
            }
        }
    }

    /// Copies `len` bytes.
    pub fn copy(&mut self, mut len: u64, out: &mut Vec<u8>) -> Result<(), Stop> {
        self.copied += len;
        while len > 0 {
            if self.block.is_empty() {
                self.block = self.fetch(self.position, len)?;
            }
            let here = len.min(self.block.len() as u64);
            out.extend(self.block.split_to(here as usize));
            self.position += here;
            len -= here;
        }
        Ok(())
    }

    /// Reads a number that ends before `end`; returns its encoding, too.
    pub fn varint(&mut self, end: u64) -> Result<(u64, Bytes), Stop> {
        let available = end.saturating_sub(self.position).min(LONGEST_VARINT as u64) as usize;
        let complete = |block: &[u8]| block.iter().take(available).position(|byte| byte & 0x80 == 0);
        if complete(&self.block).is_none() && self.block.len() < available {
            let more = self.fetch(self.position + self.block.len() as u64, 1)?;
            self.block = Bytes::from([&self.block[..], &more].concat());
        }
        let len = match complete(&self.block) {
            Some(last) => last + 1,
            None => return Err(Stop::Malformed("invalid varint")),
        };
        let encoded = self.block.split_to(len);
        self.position += len as u64;
        self.copied += len as u64;
        if len == LONGEST_VARINT && encoded[len - 1] > 1 {
            return Err(Stop::Malformed("invalid varint"));
        }
        let value = encoded.iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
        Ok((value, encoded))
    }

    /// Reads the block at `offset`, of at least `wanted` bytes if the source and [`LARGEST_BLOCK`] allow.
    fn fetch(&mut self, offset: u64, wanted: u64) -> Result<Bytes, Stop> {
        let rest = self.source.size().saturating_sub(offset);
        let wanted = wanted.clamp(self.next as u64, LARGEST_BLOCK as u64);
        let len = wanted.min(rest) as usize;
        self.next = (self.next * 2).min(LARGEST_BLOCK);
        let block = self.source.read(offset, len).filter(|block| block.len() == len && len > 0);
        block.ok_or(Stop::Unavailable)
    }
}
