//! Mutations inside a protobuf message that keep all enclosing lengths valid.
//! With invalid lengths, the content of the message would not be parsed.

use fastrand::Rng;

/// A field: its number and its content.
struct Field {
    number: u64,
    content: Content,
}

enum Content {
    Number(u64),
    /// Wire type (1 or 5) and bytes.
    Fixed(u64, Vec<u8>),
    Bytes(Vec<u8>),
}

/// Unusual values for sizes, offsets and codes.
pub const ODD_NUMBERS: [u64; 14] = [
    0,
    1,
    7,
    16,
    127,
    255,
    1 << 16,
    1 << 31,
    (1 << 31) - 1,
    1 << 32,
    1 << 40,
    i64::MAX as u64,
    i64::MIN as u64,
    u64::MAX,
];

/// Changes one field of the message, or of a nested message.
pub fn mutate(message: &mut Vec<u8>, rng: &mut Rng) {
    let Some(mut fields) = fields(message) else { return };
    if fields.is_empty() {
        return;
    }
    let at = rng.usize(..fields.len());
    match &mut fields[at].content {
        Content::Bytes(inner)
            if rng.u8(..8) != 0 && self::fields(inner).is_some_and(|fields| !fields.is_empty()) =>
        {
            mutate(inner, rng);
        }
        _ => change(&mut fields, at, rng),
    }
    *message = encoded(&fields);
}

fn change(fields: &mut Vec<Field>, at: usize, rng: &mut Rng) {
    match rng.u8(..8) {
        0 => drop(fields.remove(at)),
        1 => {
            let other = rng.usize(..fields.len());
            fields.swap(at, other);
        }
        2 => {
            let times = 1 << rng.u32(..10);
            let (number, copy) = (fields[at].number, encoded(&fields[at..=at]));
            // Decode the bytes again for each repetition: a field cannot be cloned.
            let mut repeated: Vec<Field> = Vec::new();
            for _ in 0..times {
                repeated.extend(self::fields(&copy).into_iter().flatten());
            }
            fields.splice(at..at, repeated.into_iter().filter(|field| field.number == number));
        }
        3 => fields[at].number = rng.u64(1..32),
        4 => nest(&mut fields[at], rng),
        _ => match &mut fields[at].content {
            Content::Number(number) => *number = ODD_NUMBERS[rng.usize(..ODD_NUMBERS.len())],
            Content::Fixed(_, bytes) => bytes.iter_mut().for_each(|byte| *byte = rng.u8(..)),
            Content::Bytes(bytes) => super::mutate::bytes(bytes, rng),
        },
    }
}

/// Nests a message in itself, like a graph in an attribute of a node in a graph.
fn nest(field: &mut Field, rng: &mut Rng) {
    /// Field numbers: graph in attribute, attribute in node, node in graph.
    const WAY: [u64; 3] = [6, 5, 1];
    let Content::Bytes(bytes) = &mut field.content else { return };
    for depth in 0..rng.usize(..600) {
        let number = WAY[depth % WAY.len()];
        *bytes = encoded(&[Field { number, content: Content::Bytes(std::mem::take(bytes)) }]);
    }
}

/// Parses the fields of a message; returns `None` if the bytes are not a message.
fn fields(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let content = match tag & 7 {
            0 => Content::Number(varint(&mut bytes)?),
            wire @ (1 | 5) => {
                Content::Fixed(wire, bytes.split_off(..if wire == 1 { 8 } else { 4 })?.to_vec())
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Content::Bytes(bytes.split_off(..length)?.to_vec())
            }
            _ => return None,
        };
        fields.push(Field { number: tag >> 3, content });
    }
    Some(fields)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn encoded(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        match &field.content {
            Content::Number(number) => put_number(&mut bytes, field.number, *number),
            Content::Fixed(wire, content) => {
                put_varint(&mut bytes, field.number << 3 | wire);
                bytes.extend(content);
            }
            Content::Bytes(content) => put_bytes(&mut bytes, field.number, content),
        }
    }
    bytes
}

/// Appends a varint.
pub fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends an integer field.
pub fn put_number(message: &mut Vec<u8>, field: u64, number: u64) {
    put_varint(message, field << 3);
    put_varint(message, number);
}

/// Appends a length-delimited field.
pub fn put_bytes(message: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(message, field << 3 | 2);
    put_varint(message, bytes.len() as u64);
    message.extend(bytes);
}
