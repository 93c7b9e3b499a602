//! Ranges of a file that have been read.

use std::collections::BTreeMap;

use bytes::Bytes;

/// Ranges of a file in memory, by offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks(BTreeMap<u64, Bytes>);

impl Blocks {
    /// Returns `len` bytes from `offset` on, if one block has them.
    pub fn get(&self, offset: u64, len: usize) -> Option<Bytes> {
        let (start, block) = self.0.range(..=offset).next_back()?;
        let from = usize::try_from(offset - start).ok()?;
        let to = from.checked_add(len).filter(|&to| to <= block.len())?;
        Some(block.slice(from..to))
    }

    /// Returns the block at the start of the file, or no bytes if there is no such block.
    pub fn start(&self) -> Bytes {
        self.0.get(&0).cloned().unwrap_or_default()
    }

    /// Adds a block; if two blocks have one offset, the longer block is kept.
    pub fn insert(&mut self, offset: u64, block: Bytes) {
        let known = self.0.entry(offset).or_default();
        if known.len() < block.len() {
            *known = block;
        }
    }

    /// Returns the blocks with their offsets.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Bytes)> {
        self.0.iter().map(|(offset, block)| (*offset, block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_must_be_in_one_block() {
        let mut blocks = Blocks::default();
        blocks.insert(0, Bytes::from_static(b"abcd"));
        blocks.insert(4, Bytes::from_static(b"efgh"));
        blocks.insert(4, Bytes::from_static(b"e"));
        assert_eq!(blocks.get(5, 3).as_deref(), Some(&b"fgh"[..]));
        assert_eq!((blocks.get(3, 2), blocks.get(8, 1), blocks.get(u64::MAX, 1)), (None, None, None));
        assert_eq!(&blocks.start()[..], b"abcd");
    }
}
