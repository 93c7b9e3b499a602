//! Obstacles: reasons why a node is invalid at an opset, and their messages.

use std::fmt;
use std::mem::discriminant;

use crate::graph::AttrKind;

use super::model::Values;
use super::types::ValueType;

/// Reason why a node is invalid at an opset, and the first later opset at which the reason is gone.
///
/// An `Illegal` is displayed as a predicate of the operator: "does not exist before opset 20".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// The obstacle.
    pub obstacle: Obstacle,
    /// First opset, after the checked one, without this obstacle; `None` if there is no such opset.
    /// If the operator exists at the checked opset and is not deprecated there, later versions with other
    /// semantics are ignored.
    pub since: Option<u16>,
}

/// Reason why a node is invalid at an opset, or unsupported by a target profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The operator is unknown, or does not exist at this opset.
    NoSuchOp,
    /// Deprecated by the version `by`.
    Deprecated { by: u16 },
    /// The operator has other semantics at the opset than in the node: those of version `in_force`.
    OtherEpoch { in_force: u16 },
    /// This version lacks the attribute, and the value of the attribute is not its default.
    Attribute { name: String },
    /// The attribute has a kind other than `expected`.
    AttributeKind { name: String, expected: AttrKind },
    /// The value of the attribute is not allowed.
    AttributeValue { name: String, allowed: Values },
    /// A required attribute is absent.
    AttributeMissing { name: &'static str },
    /// The node has two attributes that exclude each other.
    AttributeClash { name: String, other: String },
    /// Too few or too many inputs or outputs; `slot` is the first missing or surplus input or output.
    ///
    /// If `most` is [`u16::MAX`], the number is not limited.
    Count { slot: Slot, least: u16, most: u16 },
    /// A required input is absent.
    Missing { slot: Slot, name: &'static str },
    /// The type is not allowed.
    Type { slot: Slot, name: &'static str, ty: ValueType },
    /// The type differs from that of another operand, which must have the same type.
    Unlike { slot: Slot, name: &'static str, ty: ValueType, other: Slot, other_ty: ValueType },
    /// The target profile `by` does not support the node, for the reason `why`.
    Refused { by: String, why: String },
    /// The node violates a constraint of the checked version that the version of the node does not have.
    ///
    /// `name` is the input or attribute, and `why` a predicate such as "must be 1".
    Constraint { name: &'static str, why: &'static str },
    /// The input contains negative integers, which this version does not support.
    Negative { slot: Slot, name: &'static str },
}

/// An input or output of a node, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Input(usize),
    Output(usize),
}

impl Obstacle {
    /// Returns the name of the attribute that causes the obstacle, if one does.
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

    /// Returns the input or output that causes the obstacle, if one does.
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

    /// Returns true if both obstacles have the same kind, attribute, and input or output.
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
                write!(f, "has other semantics since opset {in_force}")
            }
            (Obstacle::OtherEpoch { in_force }, Some(since)) => {
                write!(f, "has the semantics of `@{in_force}` before opset {since}")
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
            Obstacle::OtherEpoch { .. } => f.write_str("has other semantics"),
            Obstacle::Attribute { name } => write!(f, "has no attribute `{name}`"),
            Obstacle::AttributeKind { name, expected } => {
                write!(f, "requires `{name}` to be of kind {}", expected.name())
            }
            Obstacle::AttributeValue { name, allowed } => write!(f, "supports {allowed} for `{name}`"),
            Obstacle::AttributeMissing { name } => write!(f, "needs the attribute `{name}`"),
            Obstacle::AttributeClash { name, other } => {
                write!(f, "does not allow both `{name}` and `{other}`")
            }
            Obstacle::Count { slot, least, most } => count(f, *slot, *least, *most),
            Obstacle::Missing { slot, name } => write!(f, "needs {slot} (`{name}`)"),
            Obstacle::Type { slot: slot @ Slot::Input(_), name, ty } => {
                write!(f, "does not support {ty} as {slot} (`{name}`)")
            }
            Obstacle::Type { slot, name, ty } => {
                write!(f, "does not produce {ty} as {slot} (`{name}`)")
            }
            Obstacle::Unlike { slot, name, ty, other, other_ty } => {
                let verb = if matches!(slot, Slot::Input(_)) { "support" } else { "produce" };
                write!(f, "does not {verb} {ty} as {slot} (`{name}`) with {other_ty} as {other}")
            }
            Obstacle::Refused { why, .. } => f.write_str(why),
            Obstacle::Constraint { name, why } => write!(f, "requires that `{name}` {why}"),
            Obstacle::Negative { slot, name } => {
                write!(f, "does not support negative integers as {slot} (`{name}`)")
            }
        }
    }
}

/// Renders `needs input 2: it takes 3 inputs` or `has no output 1: it produces 1 output`.
fn count(f: &mut fmt::Formatter<'_>, slot: Slot, least: u16, most: u16) -> fmt::Result {
    let (position, verb, noun) = match slot {
        Slot::Input(position) => (position, "takes", "input"),
        Slot::Output(position) => (position, "produces", "output"),
    };
    let start = if position < usize::from(least) { "needs" } else { "has no" };
    write!(f, "{start} {slot}: it {verb} ")?;
    let counted = |count: u16| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    match (least, most) {
        (least, u16::MAX) => write!(f, "at least {}", counted(least)),
        (least, most) if least == most => write!(f, "{}", counted(most)),
        (least, most) => write!(f, "{least} to {}", counted(most)),
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
    /// Renders the object of "supports": `only `a`, `b` or `c``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Any => f.write_str("any value"),
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
