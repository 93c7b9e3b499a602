//! Buffer for encoded messages that shares large fields instead of copying them.

use bytes::buf::UninitSlice;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Minimum size of a shared field, in bytes.
const SHARED: usize = 1 << 12;

/// Encoded bytes, in pieces.
#[derive(Default)]
pub(super) struct Rope {
    pieces: Vec<Bytes>,
    tail: BytesMut,
}

impl Rope {
    /// Returns the pieces, in order.
    pub fn into_pieces(mut self) -> Vec<Bytes> {
        self.pieces.push(self.tail.freeze());
        self.pieces
    }
}

// SAFETY: `advance_mut` and `chunk_mut` delegate to the tail, which implements `BufMut`.
unsafe impl BufMut for Rope {
    fn remaining_mut(&self) -> usize {
        usize::MAX
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        // SAFETY: the caller initialized `count` bytes of `chunk_mut`, which is part of the tail.
        unsafe { self.tail.advance_mut(count) }
    }

    fn chunk_mut(&mut self) -> &mut UninitSlice {
        self.tail.chunk_mut()
    }

    fn put<B: Buf>(&mut self, mut source: B) {
        if source.remaining() < SHARED {
            return self.tail.put(source);
        }
        self.pieces.push(self.tail.split().freeze());
        self.pieces.push(source.copy_to_bytes(source.remaining()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_fields_are_shared() {
        let large = Bytes::from(vec![7; SHARED]);
        let mut rope = Rope::default();
        rope.put_u8(1);
        rope.put(large.clone());
        rope.put_slice(&[2, 3]);
        rope.put(Bytes::from_static(&[4]));
        let pieces = rope.into_pieces();
        assert_eq!(pieces[1].as_ptr(), large.as_ptr());
        assert_eq!(pieces.concat(), [&[1][..], &large, &[2, 3, 4]].concat());
    }
}
