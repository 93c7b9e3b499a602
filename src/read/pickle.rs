//! Parses Python pickles without executing them.
//!
//! A pickle is a program for a stack machine that may call any Python function. This parser keeps a call as a name with
//! arguments. The caller interprets the few functions that rebuild tensors and rejects all others.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Index of an object in a pickle.
pub type Id = usize;

/// Object of a pickle.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    /// List or tuple.
    List(Vec<Id>),
    /// Dictionary: keys and values, in order.
    Dict(Vec<(Id, Id)>),
    /// Global name of a function or class: module and name, such as `torch._utils _rebuild_tensor_v2`.
    Name(Arc<str>),
    /// Object referenced by a persistent id.
    Persistent(Id),
    /// Call of a function with a tuple of arguments, not executed.
    Call(Id, Id),
    /// Instance of a class with its state.
    Instance(Id, Option<Id>),
}

/// Objects of a pickle, and the index of the top-level one.
#[derive(Debug, Default)]
pub struct Pickle {
    /// Objects, by their [`Id`].
    pub objects: Vec<Object>,
    /// Top-level object.
    pub root: Id,
}

impl Pickle {
    /// Returns an object; [`Object::None`] for an invalid id.
    pub fn get(&self, id: Id) -> &Object {
        self.objects.get(id).unwrap_or(&Object::None)
    }
}

/// Parses a pickle.
///
/// # Errors
/// The first fault, as a clause for a message.
pub fn read(bytes: &[u8]) -> Result<Pickle, String> {
    let mut machine = Machine { rest: bytes, ..Machine::default() };
    while let Some(&op) = machine.rest.first() {
        machine.rest = &machine.rest[1..];
        if op == b'.' {
            let root = machine.pop()?;
            return Ok(Pickle { objects: machine.objects, root });
        }
        machine.step(op)?;
    }
    Err(cut_short())
}

fn cut_short() -> String {
    "ends too early".to_owned()
}

#[derive(Default)]
struct Machine<'b> {
    rest: &'b [u8],
    objects: Vec<Object>,
    stack: Vec<Id>,
    /// Stack heights at the open marks.
    marks: Vec<usize>,
    memo: FxHashMap<u64, Id>,
}

impl Machine<'_> {
    fn step(&mut self, op: u8) -> Result<(), String> {
        match op {
            0x80 => self.take(1).map(drop)?,
            0x95 => self.take(8).map(drop)?,
            b'(' => self.marks.push(self.stack.len()),
            b'0' => self.pop().map(drop)?,
            b'1' => self.members().map(drop)?,
            b'2' => self.stack.push(*self.stack.last().ok_or_else(cut_short)?),
            b'N' => self.push(Object::None),
            0x88 => self.push(Object::Bool(true)),
            0x89 => self.push(Object::Bool(false)),
            b'J' => {
                let low = self.number(4)? as u32;
                self.push(Object::Int(i64::from(low.cast_signed())));
            }
            b'K' => self.int(1)?,
            b'M' => self.int(2)?,
            0x8a => self.long()?,
            b'G' => {
                let bytes = self.take(8)?;
                let float = bytes.try_into().map(f64::from_be_bytes).map_err(|_| cut_short())?;
                self.push(Object::Float(float));
            }
            b'U' | 0x8c | b'C' => self.text(1)?,
            b'X' | b'T' | b'B' => self.text(4)?,
            0x8d | 0x8e => self.text(8)?,
            b']' | b')' => self.push(Object::List(Vec::new())),
            b'}' => self.push(Object::Dict(Vec::new())),
            b'l' | b't' => {
                let members = self.members()?;
                self.push(Object::List(members));
            }
            b'd' => {
                let members = self.members()?;
                self.push(Object::Dict(pairs(&members)));
            }
            0x85..=0x87 => {
                let from = self.stack.len().checked_sub(usize::from(op - 0x84)).ok_or_else(cut_short)?;
                let members = self.stack.split_off(from);
                self.push(Object::List(members));
            }
            b'a' | b'e' => {
                let added = if op == b'a' { vec![self.pop()?] } else { self.members()? };
                match self.top()? {
                    Object::List(members) => members.extend(added),
                    _ => return Err("appends to an object that is not a list".to_owned()),
                }
            }
            b's' | b'u' => {
                let added = match op {
                    b's' => {
                        let value = self.pop()?;
                        vec![self.pop()?, value]
                    }
                    _ => self.members()?,
                };
                self.set(&added)?;
            }
            b'c' => {
                let name = [self.line()?, self.line()?].join(" ");
                self.push(Object::Name(name.into()));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (&self.objects[module], &self.objects[name]) {
                    (Object::Str(module), Object::Str(name)) => {
                        let name = format!("{module} {name}");
                        self.push(Object::Name(name.into()));
                    }
                    _ => return Err("has a global name that is not a string".to_owned()),
                }
            }
            b'R' => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                self.push(Object::Call(callee, arguments));
            }
            0x81 => {
                let (_, class) = (self.pop()?, self.pop()?);
                self.push(Object::Instance(class, None));
            }
            b'b' => {
                let state = self.pop()?;
                // An OrderedDict may have attributes, too; they are ignored.
                if let Object::Instance(_, it) = self.top()? {
                    *it = Some(state);
                }
            }
            b'Q' => {
                let id = self.pop()?;
                self.push(Object::Persistent(id));
            }
            b'q' => self.remember(1)?,
            b'r' => self.remember(4)?,
            0x94 => {
                let next = self.memo.len() as u64;
                self.memo.insert(next, *self.stack.last().ok_or_else(cut_short)?);
            }
            b'h' => self.recall(1)?,
            b'j' => self.recall(4)?,
            _ => return Err(format!("has an unsupported instruction (0x{op:02x})")),
        }
        Ok(())
    }

    fn push(&mut self, object: Object) {
        self.stack.push(self.objects.len());
        self.objects.push(object);
    }

    fn pop(&mut self) -> Result<Id, String> {
        self.stack.pop().ok_or_else(cut_short)
    }

    fn top(&mut self) -> Result<&mut Object, String> {
        let id = *self.stack.last().ok_or_else(cut_short)?;
        Ok(&mut self.objects[id])
    }

    /// Pops the objects pushed since the last mark.
    fn members(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or_else(cut_short)?;
        Ok(self.stack.split_off(mark))
    }

    fn set(&mut self, added: &[Id]) -> Result<(), String> {
        let added = pairs(added);
        let id = *self.stack.last().ok_or_else(cut_short)?;
        if let Object::Call(callee, _) = self.objects[id] {
            match &self.objects[callee] {
                Object::Name(name) if &**name == "collections OrderedDict" => {
                    self.objects[id] = Object::Dict(Vec::new());
                }
                _ => {}
            }
        }
        match &mut self.objects[id] {
            Object::Dict(members) => members.extend(added),
            _ => return Err("sets items of an object that is not a dictionary".to_owned()),
        }
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&[u8], String> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads an unsigned little-endian integer of `width` bytes.
    fn number(&mut self, width: usize) -> Result<u64, String> {
        Ok(self.take(width)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn int(&mut self, width: usize) -> Result<(), String> {
        let number = self.number(width)? as i64;
        self.push(Object::Int(number));
        Ok(())
    }

    /// Reads a two's complement integer of variable length.
    fn long(&mut self) -> Result<(), String> {
        let count = self.number(1)? as usize;
        let bytes = self.take(count)?;
        let sign = bytes.last().map_or(0, |last| if last & 0x80 == 0 { 0 } else { 0xff });
        let mut whole = [sign; 8];
        match whole.get_mut(..count) {
            Some(low) => low.copy_from_slice(bytes),
            None => return Err("has an integer of more than 64 bits".to_owned()),
        }
        self.push(Object::Int(i64::from_le_bytes(whole)));
        Ok(())
    }

    fn text(&mut self, width: usize) -> Result<(), String> {
        let count = usize::try_from(self.number(width)?).map_err(|_| cut_short())?;
        let text = String::from_utf8_lossy(self.take(count)?).into_owned();
        self.push(Object::Str(text.into()));
        Ok(())
    }

    fn line(&mut self) -> Result<String, String> {
        let end = self.rest.iter().position(|&byte| byte == b'\n').ok_or_else(cut_short)?;
        let line = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.take(1).map(|_| line)
    }

    fn remember(&mut self, width: usize) -> Result<(), String> {
        let place = self.number(width)?;
        self.memo.insert(place, *self.stack.last().ok_or_else(cut_short)?);
        Ok(())
    }

    fn recall(&mut self, width: usize) -> Result<(), String> {
        let place = self.number(width)?;
        let id = self.memo.get(&place).ok_or("reads a memo entry that does not exist")?;
        self.stack.push(*id);
        Ok(())
    }
}

fn pairs(members: &[Id]) -> Vec<(Id, Id)> {
    members.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pickle_written_by_python_is_parsed() {
        // pickle.dumps({"a": [1, -2, 2.5, None, True]}, protocol=2)
        let bytes = b"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffG@\x04\x00\x00\x00\x00\x00\x00N\x88es.";
        let pickle = read(bytes).expect("it is one");
        let Object::Dict(members) = pickle.get(pickle.root) else { panic!("{pickle:?}") };
        assert_eq!(pickle.get(members[0].0), &Object::Str("a".into()));
        let Object::List(items) = pickle.get(members[0].1) else { panic!("{pickle:?}") };
        let items: Vec<&Object> = items.iter().map(|&item| pickle.get(item)).collect();
        let expected =
            [Object::Int(1), Object::Int(-2), Object::Float(2.5), Object::None, Object::Bool(true)];
        assert_eq!(items, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_call_is_not_executed() {
        let pickle = read(b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00exit\x85R.").expect("it is one");
        let Object::Call(callee, _) = pickle.get(pickle.root) else { panic!("{pickle:?}") };
        assert_eq!(pickle.get(*callee), &Object::Name("os system".into()));
    }

    #[test]
    fn a_damaged_pickle_is_an_error() {
        for bytes in
            [&b""[..], b"\x80\x02", b"e.", b"X\xff\xff\xff\xffa", b"h\x07.", b"K", b"\x86.", b"(0(1e."]
        {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(read(b"V.").err().as_deref(), Some("has an unsupported instruction (0x56)"));
    }
}
