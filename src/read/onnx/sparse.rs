//! Copies a model without its large tensors, by reading only the other ranges of its file.
//!
//! The copy is a valid `ModelProto`. Large `raw_data`, `float_data` and `double_data` are replaced by a placeholder of
//! one byte in `raw_data`, whose position identifies the range of the file.

use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::cursor::Cursor;
use super::stop::Stop;
use crate::graph::{Deferred, DeferredField, RangeRead};

/// Size in bytes above which the elements of a tensor are omitted.
///
/// Analyses read the elements of larger constants on demand.
pub const LARGEST_READ: u64 = 1 << 16;

/// Largest copy, in bytes. The graphs of real models have at most a few MB.
const LARGEST_COPY: u64 = 256 << 20;

/// Maximum nesting of messages; equal to the limit of the binary reader.
const MAX_DEPTH: usize = 100;

/// Wire type of a field with a length.
const DELIMITED: u64 = 2;

/// A model without its large tensors.
#[derive(Debug)]
pub struct Sparse {
    /// A `ModelProto` with placeholders.
    pub bytes: Bytes,
    /// Number of bytes by which the file, encoded canonically, is larger than `bytes`.
    pub omitted: u64,
    /// Offset, length and field of each omitted range, by position of its placeholder in `bytes`.
    ranges: FxHashMap<usize, (u64, usize, DeferredField)>,
    source: Arc<dyn RangeRead>,
}

impl Sparse {
    /// Copies a model.
    ///
    /// # Errors
    /// The file cannot be copied in this way.
    pub fn read(source: Arc<dyn RangeRead>) -> Result<Sparse, Stop> {
        let size = source.size();
        let mut walker = Walker { cursor: Cursor::new(&*source), overlong: 0 };
        let part = walker.message(Kind::Model, size, 0)?;
        let overlong = walker.overlong;
        let omitted = (size - overlong).saturating_sub(part.bytes.len() as u64);
        let ranges = part.ranges.into_iter().map(|(at, offset, len, field)| (at, (offset, len, field)));
        Ok(Sparse { bytes: part.bytes.into(), omitted, ranges: ranges.collect(), source })
    }

    /// Returns the elements that a decoded `raw_data` stands for, if it is a placeholder of this copy.
    pub fn deferred(&self, raw: &Bytes) -> Option<Deferred> {
        // Decoding shares the bytes of the copy, so a placeholder is known by its address.
        let at = (raw.as_ptr() as usize).checked_sub(self.bytes.as_ptr() as usize)?;
        let &(offset, len, field) = self.ranges.get(&at).filter(|_| raw.len() == 1)?;
        Some(Deferred::new(self.source.clone(), offset, len, field))
    }
}

/// Messages that may contain tensors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Function,
    Tensor,
    Sparse,
}

impl Kind {
    /// Returns the kind of the message in a field, or `None` if the field has no message of a known kind.
    fn of_field(self, number: u64) -> Option<Kind> {
        Some(match (self, number) {
            (Kind::Model, 7) | (Kind::Attribute, 6 | 11) => Kind::Graph,
            (Kind::Model, 25) => Kind::Function,
            (Kind::Graph, 1) | (Kind::Function, 7) => Kind::Node,
            (Kind::Node, 5) | (Kind::Function, 11) => Kind::Attribute,
            (Kind::Graph, 5) | (Kind::Attribute, 5 | 10) | (Kind::Sparse, 1 | 2) => Kind::Tensor,
            (Kind::Graph, 15) | (Kind::Attribute, 22 | 23) => Kind::Sparse,
            _ => return None,
        })
    }

    /// Returns true if a field holds one tensor: repeated occurrences would be merged.
    fn is_single(self, number: u64) -> bool {
        matches!((self, number), (Kind::Attribute, 5 | 22) | (Kind::Sparse, 1 | 2))
    }

    /// Returns true if a field holds elements of a tensor.
    fn has_elements(self, number: u64) -> bool {
        self == Kind::Tensor && matches!(number, 4..=7 | 9..=11)
    }
}

/// A copied message, with the position, offset, length and field of each omitted range.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    ranges: Vec<(usize, u64, usize, DeferredField)>,
}

impl Part {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn append(&mut self, part: Part) {
        let start = self.bytes.len();
        self.bytes.extend(part.bytes);
        self.ranges
            .extend(part.ranges.into_iter().map(|(at, offset, len, field)| (start + at, offset, len, field)));
    }
}

/// Returns the number of bytes of the shortest encoding.
fn varint_len(value: u64) -> u64 {
    u64::from((64 - (value | 1).leading_zeros()).div_ceil(7))
}

struct Walker<'s> {
    cursor: Cursor<'s>,
    /// Number of unnecessary bytes in the encodings of keys and lengths that are not copied.
    overlong: u64,
}

impl Walker<'_> {
    /// Copies the message that ends at `end`.
    fn message(&mut self, kind: Kind, end: u64, depth: usize) -> Result<Part, Stop> {
        let mut part = Part::default();
        let (mut seen, mut elements, mut is_deferred) = (0u32, 0, false);
        while self.cursor.position() < end {
            let (key, raw_key) = self.cursor.varint(end)?;
            let (number, wire) = (key >> 3, key & 7);
            if number == 0 {
                return Err(Stop::Malformed("invalid tag value: 0"));
            }
            elements += usize::from(kind.has_elements(number));
            if wire != DELIMITED {
                part.bytes.extend(raw_key);
                self.scalar(wire, end, &mut part)?;
                continue;
            }
            let (len, raw_len) = self.cursor.varint(end)?;
            if len > end - self.cursor.position() {
                let what = if depth == 0 { "buffer underflow" } else { "delimited length exceeded" };
                return Err(Stop::Malformed(what));
            }
            if kind.is_single(number) && number < 32 {
                let is_repeated = seen & 1 << number != 0;
                seen |= 1 << number;
                (!is_repeated).then_some(()).ok_or(Stop::Unusual)?;
            }
            if len <= LARGEST_READ {
                part.bytes.extend(raw_key);
                part.bytes.extend(raw_len);
                self.copy(len, &mut part)?;
            } else if let Some(field) = deferred_field(kind, number, len) {
                is_deferred = true;
                self.overlong += raw_key.len() as u64 + raw_len.len() as u64 - 1 - varint_len(len);
                let (offset, len) =
                    (self.cursor.position(), usize::try_from(len).map_err(|_| Stop::TooLarge(len))?);
                // Append the key of `raw_data` and the length of the placeholder, then the placeholder.
                part.bytes.extend([0x4a, 1]);
                part.ranges.push((part.bytes.len(), offset, len, field));
                part.bytes.push(0);
                self.cursor.skip(len as u64);
            } else if let Some(inner) = kind.of_field(number).filter(|_| depth < MAX_DEPTH) {
                let inner = self.message(inner, self.cursor.position() + len, depth + 1)?;
                part.bytes.extend(raw_key);
                part.varint(inner.bytes.len() as u64);
                self.overlong += raw_len.len() as u64 - varint_len(len);
                part.append(inner);
            } else {
                part.bytes.extend(raw_key);
                part.bytes.extend(raw_len);
                self.copy(len, &mut part)?;
            }
        }
        // If several fields of a tensor hold elements, a reader concatenates or ignores some of these fields.
        // Placeholders would change which ones, because every placeholder is a `raw_data` field.
        if is_deferred && elements > 1 { Err(Stop::Unusual) } else { Ok(part) }
    }

    /// Copies a field without a length.
    fn scalar(&mut self, wire: u64, end: u64, part: &mut Part) -> Result<(), Stop> {
        let len = match wire {
            0 => {
                part.bytes.extend(self.cursor.varint(end)?.1);
                return Ok(());
            }
            1 => 8,
            5 => 4,
            // The field is a group, which only unknown fields can be, or has an invalid wire type.
            _ => return Err(Stop::Unusual),
        };
        if len > end - self.cursor.position() {
            return Err(Stop::Malformed("buffer underflow"));
        }
        self.copy(len, part)
    }

    fn copy(&mut self, len: u64, part: &mut Part) -> Result<(), Stop> {
        if len > LARGEST_COPY.saturating_sub(self.cursor.copied()) {
            return Err(Stop::TooLarge(LARGEST_COPY));
        }
        self.cursor.copy(len, &mut part.bytes)
    }
}

/// Returns the tensor field that can be omitted, or `None` if the field must be copied.
fn deferred_field(kind: Kind, number: u64, len: u64) -> Option<DeferredField> {
    match (kind, number) {
        (Kind::Tensor, 9) => Some(DeferredField::Raw),
        (Kind::Tensor, 4) if len.is_multiple_of(4) => Some(DeferredField::Floats),
        (Kind::Tensor, 10) if len.is_multiple_of(8) => Some(DeferredField::Doubles),
        _ => None,
    }
}
