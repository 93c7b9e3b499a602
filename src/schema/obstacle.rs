//! What keeps a node from being written at an opset, and how it is said.

use std::fmt;
use std::mem::discriminant;

use crate::graph::AttrKind;

use super::model::Values;
use super::types::ValueType;

/// Why a node cannot be written at an opset.
///
/// Displayed as what follows the operator's name: "does not exist before opset 20".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    pub obstacle: Obstacle,
    /// The first later opset without this obstacle, where the node means the same; `None`: no opset
    /// that the table knows.
    pub since: Option<u16>,
}

/// One thing about a node that a version of its operator does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The operator is not known, or not at this opset.
    NoSuchOp,
    /// Deprecated by the version `by`.
    Deprecated {
        by: u16,
    },
    /// The node means one epoch, and another one is in force.
    OtherEpoch {
        in_force: u16,
    },
    /// There is no such attribute, and it is not at its default either.
    Attribute {
        name: String,
    },
    AttributeKind {
        name: String,
        expected: AttrKind,
    },
    AttributeValue {
        name: String,
        allowed: Values,
    },
    /// A required attribute is not written.
    AttributeMissing {
        name: &'static str,
    },
    /// An attribute that excludes another, which is written, too.
    AttributeClash {
        name: String,
        other: String,
    },
    /// Too few or too many inputs or outputs; `slot` is the first that is missing or too many, and
    /// a `most` of [`u16::MAX`] is no bound.
    Count {
        slot: Slot,
        least: u16,
        most: u16,
    },
    /// A required input is left out.
    Missing {
        slot: Slot,
        name: &'static str,
    },
    Type {
        slot: Slot,
        name: &'static str,
        ty: ValueType,
    },
    /// This version wants it to be of the type of another.
    Unlike {
        slot: Slot,
        name: &'static str,
        ty: ValueType,
        other: Slot,
        other_ty: ValueType,
    },
    /// What is to run it does not take it.
    Refused {
        by: String,
        why: String,
    },
    /// The input holds negative integers, which this version does not take.
    Negative {
        slot: Slot,
        name: &'static str,
    },
}

/// An input or output of a node, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Input(usize),
    Output(usize),
}

impl Obstacle {
    /// The attribute that is in the way.
    pub fn attribute(&self) -> Option<&str> {
        match self {
            Obstacle::Attribute { name }
            | Obstacle::AttributeKind { name, .. }
            | Obstacle::AttributeValue { name, .. }
            | Obstacle::AttributeClash { name, .. } => Some(name),
            Obstacle::AttributeMissing { name } => Some(name),
            _ => None,
        }
    }

    /// The input or output that is in the way.
    pub fn slot(&self) -> Option<Slot> {
        match *self {
            Obstacle::Count { slot, .. }
            | Obstacle::Missing { slot, .. }
            | Obstacle::Type { slot, .. }
            | Obstacle::Unlike { slot, .. }
            | Obstacle::Negative { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// Whether both are of one sort and about the same attribute, input or output.
    pub(super) fn is_at_place_of(&self, other: &Obstacle) -> bool {
        discriminant(self) == discriminant(other)
            && self.attribute() == other.attribute()
            && self.slot() == other.slot()
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.obstacle, self.since) {
            (Obstacle::NoSuchOp, None) => f.write_str("is not a known operator"),
            (Obstacle::NoSuchOp, Some(since)) => write!(f, "does not exist before opset {since}"),
            (Obstacle::Deprecated { by }, None) => write!(f, "is deprecated since opset {by}"),
            (Obstacle::Deprecated { by }, Some(since)) => {
                write!(f, "is deprecated from opset {by} to opset {}", since - 1)
            }
            (Obstacle::OtherEpoch { in_force }, None) => {
                write!(f, "means something else at this opset, as `@{in_force}` does")
            }
            (Obstacle::OtherEpoch { in_force }, Some(since)) => {
                write!(f, "means something else before opset {since}, as `@{in_force}` does")
            }
            (obstacle, None) => obstacle.fmt(f),
            (obstacle, Some(since)) => write!(f, "{obstacle} before opset {since}"),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::NoSuchOp => f.write_str("does not exist"),
            Obstacle::Deprecated { .. } => f.write_str("is deprecated"),
            Obstacle::OtherEpoch { .. } => f.write_str("means something else"),
            Obstacle::Attribute { name } => write!(f, "has no attribute `{name}`"),
            Obstacle::AttributeKind { name, expected } => {
                write!(f, "wants `{name}` to be of kind {}", expected.name())
            }
            Obstacle::AttributeValue { name, allowed } => write!(f, "takes {allowed} for `{name}`"),
            Obstacle::AttributeMissing { name } => write!(f, "needs the attribute `{name}`"),
            Obstacle::AttributeClash { name, other } => write!(f, "takes no `{name}` beside `{other}`"),
            Obstacle::Count { slot, least, most } => count(f, *slot, *least, *most),
            Obstacle::Missing { slot, name } => write!(f, "needs {slot} (`{name}`)"),
            Obstacle::Type { slot: slot @ Slot::Input(_), name, ty } => {
                write!(f, "does not take {ty} as {slot} (`{name}`)")
            }
            Obstacle::Type { slot, name, ty } => {
                write!(f, "does not give {ty} as {slot} (`{name}`)")
            }
            Obstacle::Unlike { slot, name, ty, other, other_ty } => {
                let verb = if matches!(slot, Slot::Input(_)) { "take" } else { "give" };
                write!(f, "does not {verb} {ty} as {slot} (`{name}`) with {other_ty} as {other}")
            }
            Obstacle::Refused { why, .. } => f.write_str(why),
            Obstacle::Negative { slot, name } => {
                write!(f, "takes no negative integers as {slot} (`{name}`)")
            }
        }
    }
}

/// `needs input 2: it takes 3 inputs`, `has no output 1: it gives 1 output`.
fn count(f: &mut fmt::Formatter<'_>, slot: Slot, least: u16, most: u16) -> fmt::Result {
    let (position, verb, noun) = match slot {
        Slot::Input(position) => (position, "takes", "input"),
        Slot::Output(position) => (position, "gives", "output"),
    };
    let start = if position < usize::from(least) { "needs" } else { "has no" };
    let plural = if most == 1 { "" } else { "s" };
    write!(f, "{start} {slot}: it {verb} ")?;
    match (least, most) {
        (least, u16::MAX) => write!(f, "at least {least} {noun}{plural}"),
        (least, most) if least == most => write!(f, "{least} {noun}{plural}"),
        (least, most) => write!(f, "{least} to {most} {noun}{plural}"),
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::Input(position) => write!(f, "input {position}"),
            Slot::Output(position) => write!(f, "output {position}"),
        }
    }
}

impl fmt::Display for Values {
    /// What follows "takes": `only `a`, `b` or `c``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Any => f.write_str("anything"),
            Values::AtLeast(least) => write!(f, "no integers below {least}"),
            Values::OneOf(words) => {
                f.write_str("only ")?;
                for (at, word) in words.iter().enumerate() {
                    let separator = match at {
                        0 => "",
                        _ if at + 1 == words.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{separator}`{word}`")?;
                }
                Ok(())
            }
        }
    }
}
