//! Random corruption of files.

use fastrand::Rng;
use onnx_lint::read::sniff::Kind;

use super::protobuf::{ODD_NUMBERS, put_varint};
use super::{Reader, archive, protobuf};

/// Maximum length of a file: slowness on larger files is not a fault.
const MAX_LENGTH: usize = 1 << 20;

/// Corrupts a file in some places, depending on its format; `other` is a second file of this format.
pub fn mutate(reader: Reader, file: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    for _ in 0..1 << rng.u32(..4) {
        match (reader, rng.u8(..8)) {
            (_, 0) => bytes(file, rng),
            (_, 1) => splice(file, other, rng),
            (Reader::Evidence(Kind::Onnx) | Reader::External, _) => protobuf::mutate(file, rng),
            (Reader::Evidence(Kind::Pt2), _) => archive::mutate(file, rng),
            (Reader::State, _) if file.starts_with(b"PK") => archive::mutate(file, rng),
            _ => text(file, rng),
        }
    }
    file.truncate(MAX_LENGTH);
}

/// Returns the range of a random part of a file, possibly empty.
fn part(file: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    let start = rng.usize(..=file.len());
    let most = (file.len() - start).min(1 << rng.u32(..12));
    start..start + rng.usize(..=most)
}

/// Corrupts bytes, independent of the format.
pub fn bytes(file: &mut Vec<u8>, rng: &mut Rng) {
    let range = part(file, rng);
    match rng.u8(..7) {
        0 => file.iter_mut().skip(range.start).take(1).for_each(|byte| *byte ^= 1 << rng.u8(..8)),
        1 => file
            .iter_mut()
            .skip(range.start)
            .take(1)
            .for_each(|byte| *byte = rng.choice([0, 0x7f, 0x80, 0xff]).unwrap_or(0)),
        2 => file.truncate(range.start),
        3 => drop(file.drain(range)),
        4 => repeat(file, range, 1 << rng.u32(..8)),
        5 => {
            let mut varint = Vec::new();
            put_varint(&mut varint, ODD_NUMBERS[rng.usize(..ODD_NUMBERS.len())]);
            file.splice(range, varint);
        }
        _ => {
            let number = ODD_NUMBERS[rng.usize(..ODD_NUMBERS.len())].to_le_bytes();
            file.splice(range.start..(range.start + 8).min(file.len()), number);
        }
    }
}

/// Replaces a part of a file by a part of another file.
fn splice(file: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let (range, taken) = (part(file, rng), part(other, rng));
    file.splice(range, other[taken].iter().copied());
}

fn repeat(file: &mut Vec<u8>, range: std::ops::Range<usize>, times: usize) {
    let repeated = file[range.clone()].repeat(times.min(MAX_LENGTH / range.len().max(1)));
    file.splice(range, repeated);
}

/// Words that replace words of the text.
const ODD_WORDS: [&str; 22] = [
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e400",
    "-0.0",
    "nan",
    "inf",
    "null",
    "true",
    "\"\"",
    "\u{0}",
    "\u{202e}",
    "😀",
    "\\",
    "''",
    "%",
    "@",
    "=",
    "\u{feff}",
    "\r",
];

/// Text to repeat before and after a word, so that it nests deeply.
const NESTING: [(&str, &str); 12] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<", ">"),
    ("-", ""),
    ("not ", ""),
    ("\"a\": {", "}"),
    ("graph {", "}"),
    ("if x:\n", ""),
    ("Tensor[", "]"),
    ("\"", ""),
    ("lambda: ", ""),
];

/// Corrupts words, numbers, lines and brackets of a text.
pub fn text(file: &mut Vec<u8>, rng: &mut Rng) {
    match rng.u8(..9) {
        0 | 1 => {
            let (word, odd) = (word(file, rng), ODD_WORDS[rng.usize(..ODD_WORDS.len())]);
            file.splice(word, odd.bytes());
        }
        2 | 3 => {
            let (word, other) = (word(file, rng), word(file, rng));
            let taken = file[other].to_vec();
            file.splice(word, taken);
        }
        4 => drop(file.drain(line(file, rng))),
        5 => {
            let range = line(file, rng);
            repeat(file, range, 1 << rng.u32(..8));
        }
        6 => {
            let (from, to) = (line(file, rng), rng.usize(..=file.len()));
            let taken = file[from].to_vec();
            file.splice(to..to, taken);
        }
        7 => {
            let (word, times) = (word(file, rng), 1 << rng.u32(..14));
            let (open, close) = NESTING[rng.usize(..NESTING.len())];
            let nested =
                [open.repeat(times).as_bytes(), &file[word.clone()], close.repeat(times).as_bytes()].concat();
            file.splice(word, nested);
        }
        _ => bytes(file, rng),
    }
}

/// Returns the range of a random word, or of the other characters between two words.
fn word(file: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    if file.is_empty() {
        return 0..0;
    }
    let at = rng.usize(..file.len());
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let same = |byte: &u8| is_word(*byte) == is_word(file[at]);
    let start = at - file[..at].iter().rev().take_while(|byte| same(byte)).count();
    start..at + file[at..].iter().take_while(|byte| same(byte)).count()
}

fn line(file: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    let at = rng.usize(..=file.len());
    let start = file[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let end = file[at..].iter().position(|&byte| byte == b'\n').map_or(file.len(), |end| at + end + 1);
    start..end
}
