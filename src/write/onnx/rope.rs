//! A buffer that shares what is large with the messages it is made of, instead of copying it.

use bytes::buf::UninitSlice;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Bytes fields of at least this size are shared.
const SHARED: usize = 1 << 12;

/// Encoded bytes, in pieces.
#[derive(Default)]
pub(super) struct Rope {
    pieces: Vec<Bytes>,
    tail: BytesMut,
}

impl Rope {
    /// The pieces, in their order.
    pub fn into_pieces(mut self) -> Vec<Bytes> {
        self.pieces.push(self.tail.freeze());
        self.pieces
    }
}

// SAFETY: memory is handed out, and counted as written, by the tail alone, which is a `BufMut` itself.
unsafe impl BufMut for Rope {
    fn remaining_mut(&self) -> usize {
        usize::MAX
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        // SAFETY: the caller wrote `count` bytes to what `chunk_mut` gave, which is of the tail.
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
