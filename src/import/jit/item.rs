//! Values of TorchScript code while it is interpreted.
//!
//! Values are compared, shown and dropped recursively, so their nesting is bounded. A list or dictionary that
//! another container contains keeps its level: values that need more levels are not put into it. It follows
//! that no container contains itself.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::graph::ElemType;
use crate::read::jit::objects::ObjectId;
use crate::torch::ValueId;

/// Maximum number of members that a comparison visits.
const MAX_COMPARED: usize = 1 << 16;

/// A value of TorchScript code.
#[derive(Clone, Debug)]
pub enum Item {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    /// A number that the model computes at run time.
    Computed(ValueId),
    Tensor(ValueId),
    /// A 0-d tensor whose number is tracked: a constant, or a computed integer.
    Scalar(ElemType, Box<Item>),
    List(Rc<List>),
    Tuple(Rc<Tuple>),
    Dict(Rc<Dict>),
    /// A module, or another object of the archive.
    Object(ObjectId),
    /// A function or class, by its qualified name.
    Function(Arc<str>),
    /// A device or layout, by its name.
    Other(Arc<str>),
    /// A text that contains computed or formatted values, which only messages may use.
    Message,
    /// A variable that is never read.
    Uninitialized,
    /// A variable that the sides of a branch set to values that cannot be merged, for this reason.
    Unmerged(Arc<str>),
}

impl Item {
    /// Returns the members of a list or tuple.
    pub fn members(&self) -> Option<Vec<Item>> {
        match self {
            Item::List(list) => Some(list.items.borrow().clone()),
            Item::Tuple(members) => Some(members.to_vec()),
            _ => None,
        }
    }

    /// Returns the integer of a constant.
    pub fn int(&self) -> Option<i64> {
        match self {
            Item::Int(int) => Some(*int),
            Item::Bool(truth) => Some(i64::from(*truth)),
            _ => None,
        }
    }

    /// Returns a constant number as a float.
    pub fn float(&self) -> Option<f64> {
        match self {
            Item::Float(float) => Some(*float),
            other => other.int().map(|int| int as f64),
        }
    }

    /// Returns true for a constant or computed number that is not a tensor.
    pub fn is_number(&self) -> bool {
        matches!(self, Item::Bool(_) | Item::Int(_) | Item::Float(_) | Item::Computed(_))
    }

    /// Returns true for a tensor.
    pub fn is_tensor(&self) -> bool {
        matches!(self, Item::Tensor(_) | Item::Scalar(..))
    }

    /// Returns whether two constants are equal; `None` if this depends on values that are not known.
    pub fn equals(&self, other: &Item) -> Option<bool> {
        self.equals_within(other, &mut MAX_COMPARED.clone())
    }

    fn equals_within(&self, other: &Item, left: &mut usize) -> Option<bool> {
        *left = left.checked_sub(1)?;
        Some(match (self, other) {
            (Item::Computed(a), Item::Computed(b)) if a == b => true,
            (a, b) if a.is_unknown() || b.is_unknown() => return None,
            (Item::None, Item::None) => true,
            (Item::Str(a), Item::Str(b)) | (Item::Other(a), Item::Other(b)) => a == b,
            (Item::Object(a), Item::Object(b)) => a == b,
            (Item::Bool(_) | Item::Int(_), Item::Bool(_) | Item::Int(_)) => self.int() == other.int(),
            (a, b) => match (a.members(), b.members(), a.float(), b.float()) {
                (Some(a), Some(b), ..) => {
                    if a.len() != b.len() {
                        return Some(false);
                    }
                    for (a, b) in a.iter().zip(&b) {
                        if !a.equals_within(b, left)? {
                            return Some(false);
                        }
                    }
                    true
                }
                (_, _, Some(a), Some(b)) => a == b,
                _ => false,
            },
        })
    }

    /// Returns true for a value that is known only at run time, or that is not evaluated.
    fn is_unknown(&self) -> bool {
        matches!(
            self,
            Item::Computed(_)
                | Item::Tensor(_)
                | Item::Scalar(..)
                | Item::Dict(_)
                | Item::Message
                | Item::Uninitialized
                | Item::Unmerged(_)
        )
    }

    /// Describes the kind of the value for a message.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::None => "None",
            Item::Bool(_) => "a boolean",
            Item::Int(_) => "an integer",
            Item::Float(_) => "a float",
            Item::Str(_) => "a string",
            Item::Computed(_) => "a computed number",
            Item::Tensor(_) | Item::Scalar(..) => "a tensor",
            Item::List(_) => "a list",
            Item::Tuple(_) => "a tuple",
            Item::Dict(_) => "a dictionary",
            Item::Object(_) => "a module",
            Item::Function(_) => "a function",
            Item::Other(_) => "a device or layout",
            Item::Message => "a text with values",
            Item::Uninitialized | Item::Unmerged(_) => "an uninitialized value",
        }
    }
}

/// Depth of a container of the archive: a change would persist until the next run.
pub const STORED: usize = usize::MAX;

/// Depth of a list that a branch merges: other references may be to the list of only one side.
pub const MERGED: usize = usize::MAX - 1;

/// Maximum level of a value.
const MAX_LEVEL: usize = 16;

/// Minimum level of a list or dictionary.
const ROOM: usize = 3;

/// A list, which all of its references share.
#[derive(Debug)]
pub struct List {
    /// Items, in order.
    pub items: RefCell<Vec<Item>>,
    /// Where the list may be changed.
    pub state: State,
}

/// A dictionary, which all of its references share.
#[derive(Debug)]
pub struct Dict {
    /// Keys with their values, in insertion order.
    pub items: RefCell<Vec<(Item, Item)>>,
    /// Where the dictionary may be changed.
    pub state: State,
}

/// Members of a tuple.
#[derive(Debug)]
pub struct Tuple {
    items: Box<[Item]>,
    level: usize,
}

/// Where a list or dictionary may be changed, and how deeply its values may be nested.
#[derive(Debug)]
pub struct State {
    /// Number of open subgraphs at its creation, [`STORED`] or [`MERGED`].
    depth: Cell<usize>,
    level: Cell<usize>,
    is_held: Cell<bool>,
}

impl List {
    /// Returns a list that was created at this depth.
    pub fn new(items: Vec<Item>, depth: usize) -> Rc<List> {
        let state = State::new(depth, items.iter());
        Rc::new(List { items: RefCell::new(items), state })
    }
}

impl Dict {
    /// Returns a dictionary that was created at this depth.
    pub fn new(items: Vec<(Item, Item)>, depth: usize) -> Rc<Dict> {
        let state = State::new(depth, items.iter().flat_map(|(key, value)| [key, value]));
        Rc::new(Dict { items: RefCell::new(items), state })
    }
}

impl From<Vec<Item>> for Tuple {
    fn from(items: Vec<Item>) -> Self {
        Tuple { level: 1 + held(items.iter()), items: items.into() }
    }
}

impl Deref for Tuple {
    type Target = [Item];

    fn deref(&self) -> &[Item] {
        &self.items
    }
}

impl State {
    fn new<'a>(depth: usize, members: impl Iterator<Item = &'a Item>) -> State {
        let level = Cell::new(ROOM.max(1 + held(members)));
        State { depth: Cell::new(depth), level, is_held: Cell::new(false) }
    }

    /// Prevents all further changes: a branch merges the list with that of its other side.
    pub fn freeze(&self) {
        if self.depth.get() != STORED {
            self.depth.set(MERGED);
        }
    }

    /// Checks that code at this depth may change the container.
    ///
    /// # Errors
    /// Returns the reason why it may not.
    pub fn changes(&self, depth: usize) -> Result<(), &'static str> {
        match self.depth.get() {
            STORED => Err("it changes a list of the module, which later runs would read"),
            MERGED => Err("it changes a list that a branch that depends on data may have replaced"),
            own if own == depth => Ok(()),
            _ => Err("it changes a list in a branch or loop that depends on data"),
        }
    }

    /// Makes room for a value that is put into the container.
    ///
    /// # Errors
    /// Returns the reason why the value cannot be put into the container.
    pub fn admit(&self, item: &Item) -> Result<(), &'static str> {
        let is_own = item.state().is_some_and(|state| std::ptr::eq(state, self));
        let level = item.level() + 1;
        if is_own || level > MAX_LEVEL || level > self.level.get() && self.is_held.get() {
            return Err("its lists are nested too deeply");
        }
        self.level.set(self.level.get().max(level));
        held(std::iter::once(item));
        Ok(())
    }
}

/// Marks the members of a new container; returns the highest of their levels.
fn held<'a>(members: impl Iterator<Item = &'a Item>) -> usize {
    let level = |member: &Item| {
        if let Some(state) = member.state() {
            state.is_held.set(true);
        }
        member.level()
    };
    members.map(level).max().unwrap_or(0)
}

impl Item {
    fn state(&self) -> Option<&State> {
        match self {
            Item::List(list) => Some(&list.state),
            Item::Dict(dict) => Some(&dict.state),
            _ => None,
        }
    }

    /// Returns a bound of the nesting of a value; 0 for a value without members.
    fn level(&self) -> usize {
        match self {
            Item::Tuple(tuple) => tuple.level,
            other => other.state().map_or(0, |state| state.level.get()),
        }
    }

    /// Returns true if a value is nested too deeply.
    pub fn is_deep(&self) -> bool {
        self.level() > MAX_LEVEL
    }

    /// Returns the number of members of a container, or of bytes of a string.
    pub fn length(&self) -> usize {
        match self {
            Item::List(list) => list.items.borrow().len(),
            Item::Tuple(members) => members.len(),
            Item::Dict(dict) => dict.items.borrow().len(),
            Item::Str(text) => text.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_container_contains_itself() {
        let (list, other) = (List::new(Vec::new(), 0), List::new(Vec::new(), 0));
        assert!(list.state.admit(&Item::List(list.clone())).is_err());
        assert!(list.state.admit(&Item::List(other.clone())).is_ok());
        assert!(other.state.admit(&Item::List(list)).is_err());
        assert!(other.state.admit(&Item::Tuple(Rc::new(vec![Item::Int(1)].into()))).is_ok());
    }

    #[test]
    fn lists_change_only_where_they_were_created() {
        let list = List::new(Vec::new(), 1);
        assert!(list.state.changes(1).is_ok() && list.state.changes(2).is_err());
        list.state.freeze();
        assert!(list.state.changes(1).is_err());
        assert!(List::new(Vec::new(), STORED).state.changes(0).is_err());
    }
}
