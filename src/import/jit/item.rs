//! Values of TorchScript code while it is interpreted.

use std::rc::Rc;
use std::sync::Arc;

use super::container::{Dict, List, Tuple};
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
