//! Data model of schemas: one version of an operator, with its inputs, outputs and attributes.

use bytes::Bytes;

use crate::graph::{AttrKind, AttrValue};

use super::types::TypeSet;

/// Schema of a version of an operator.
#[derive(Debug)]
pub struct Schema {
    /// Domain; `""` for ai.onnx.
    pub domain: &'static str,
    /// Name of the operator.
    pub name: &'static str,
    /// First opset with this version.
    pub since: u16,
    /// First version of the epoch: the consecutive versions with equal semantics (see [`super`]).
    pub epoch: u16,
    /// Whether the operator is deprecated in this version.
    pub deprecated: bool,
    /// Whether ONNX Runtime defines the operator, not the ONNX specification.
    pub vendor: bool,
    /// Whether equal inputs lead to equal outputs.
    pub determinism: Determinism,
    /// Whether the specification defines the operator as a function of other operators.
    pub has_body: bool,
    /// Formal inputs, by position.
    pub inputs: &'static [Formal],
    /// Formal outputs, by position.
    pub outputs: &'static [Formal],
    /// Minimum number of inputs.
    pub min_inputs: u16,
    /// Maximum number of inputs; [`u16::MAX`] is unlimited.
    pub max_inputs: u16,
    /// Minimum number of outputs.
    pub min_outputs: u16,
    /// Maximum number of outputs; [`u16::MAX`] is unlimited.
    pub max_outputs: u16,
    /// Attributes, sorted by name.
    pub attrs: &'static [AttrSpec],
    /// Type variables.
    pub type_params: &'static [TypeParam],
}

/// Determinism of an operator: whether the inputs and attributes alone determine the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determinism {
    Deterministic,
    /// Draws random numbers, at least in some mode (`Dropout` while training).
    NonDeterministic,
    /// The determinism depends on the subgraphs or on the environment.
    Unknown,
}

/// A formal input or output.
#[derive(Clone, Debug)]
pub struct Formal {
    /// Name in the specification.
    pub name: &'static str,
    /// Number of values.
    pub option: Arity,
    /// Allowed types.
    pub ty: Ty,
    /// Whether the integers of this input, which are indices or axes, must be nonnegative in this version.
    pub non_negative: bool,
}

/// Number of values of a formal input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    Single,
    Optional,
    /// At least `min` values, from the position of the formal to the end; of one type if `homogeneous`.
    Variadic {
        homogeneous: bool,
        min: u16,
    },
}

/// Allowed types of a formal.
#[derive(Clone, Copy, Debug)]
pub enum Ty {
    /// A type variable, shared between formals: an index into [`Schema::type_params`].
    Param(u8),
    Exactly(&'static TypeSet),
}

/// A type variable, such as `T`.
#[derive(Debug)]
pub struct TypeParam {
    /// Name in the specification.
    pub name: &'static str,
    /// Allowed types.
    pub allowed: &'static TypeSet,
}

/// An attribute of a schema.
#[derive(Debug)]
pub struct AttrSpec {
    /// Name.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: AttrKind,
    /// Whether the attribute is required.
    pub required: bool,
    /// Value if the attribute is absent.
    pub default: Option<AttrDefault>,
    /// Allowed values.
    pub values: Values,
}

/// Value of an absent attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    Int(i64),
    Float(f32),
    String(&'static str),
    Ints(&'static [i64]),
    Strings(&'static [&'static str]),
    /// A list that repeats this integer once or twice for each spatial axis.
    ///
    /// For example, the integer is 1 for `strides` and `dilations`, and 0 for `pads`.
    Every(i64),
}

/// Allowed values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    Any,
    /// Integers greater than or equal to the given integer.
    AtLeast(i64),
    OneOf(&'static [&'static str]),
}

/// Borrowed value of an attribute, for checks against a schema.
#[derive(Clone, Copy, Debug)]
pub enum AttrView<'a> {
    Int(i64),
    Float(f32),
    String(&'a [u8]),
    Ints(&'a [i64]),
    Floats(&'a [f32]),
    Strings(&'a [Bytes]),
    /// Value of any other kind; `None` if the kind is unknown.
    Other(Option<AttrKind>),
}

impl AttrView<'_> {
    /// Returns the kind, if known.
    pub fn kind(self) -> Option<AttrKind> {
        Some(match self {
            AttrView::Int(_) => AttrKind::Int,
            AttrView::Float(_) => AttrKind::Float,
            AttrView::String(_) => AttrKind::String,
            AttrView::Ints(_) => AttrKind::Ints,
            AttrView::Floats(_) => AttrKind::Floats,
            AttrView::Strings(_) => AttrKind::Strings,
            AttrView::Other(kind) => return kind,
        })
    }
}

impl<'a> From<&'a AttrValue> for AttrView<'a> {
    fn from(value: &'a AttrValue) -> Self {
        match value {
            AttrValue::Int(int) => AttrView::Int(*int),
            AttrValue::Float(float) => AttrView::Float(*float),
            AttrValue::String(text) => AttrView::String(text),
            AttrValue::Ints(ints) => AttrView::Ints(ints),
            AttrValue::Floats(floats) => AttrView::Floats(floats),
            AttrValue::Strings(texts) => AttrView::Strings(texts),
            other => AttrView::Other(other.kind()),
        }
    }
}

impl AttrDefault {
    /// Returns the default as a value; `None` for a list whose length depends on the rank of an input.
    pub fn to_value(self) -> Option<AttrValue> {
        let text = |text: &'static str| Bytes::from_static(text.as_bytes());
        Some(match self {
            AttrDefault::Int(int) => AttrValue::Int(int),
            AttrDefault::Float(float) => AttrValue::Float(float),
            AttrDefault::String(string) => AttrValue::String(text(string)),
            AttrDefault::Ints(ints) => AttrValue::Ints(ints.to_vec()),
            AttrDefault::Strings(strings) => AttrValue::Strings(strings.iter().map(|s| text(s)).collect()),
            AttrDefault::Every(_) => return None,
        })
    }
}

impl AttrSpec {
    /// Returns true if `value` is equal to the default.
    pub fn is_default(&self, value: AttrView) -> bool {
        match (self.default, value) {
            (Some(AttrDefault::Int(default)), AttrView::Int(int)) => default == int,
            (Some(AttrDefault::Float(default)), AttrView::Float(float)) => {
                default.to_bits() == float.to_bits()
            }
            (Some(AttrDefault::String(default)), AttrView::String(text)) => default.as_bytes() == text,
            (Some(AttrDefault::Ints(default)), AttrView::Ints(ints)) => default == ints,
            (Some(AttrDefault::Strings(default)), AttrView::Strings(texts)) => {
                default.iter().map(|text| text.as_bytes()).eq(texts.iter())
            }
            (Some(AttrDefault::Every(default)), AttrView::Ints(ints)) => {
                ints.iter().all(|int| *int == default)
            }
            _ => false,
        }
    }
}

impl Schema {
    /// Returns the formal of the input at `position`; `None` after the last formal.
    pub fn input(&self, position: usize) -> Option<&'static Formal> {
        formal_at(self.inputs, position)
    }

    /// Returns the formal of the output at `position`; `None` after the last formal.
    pub fn output(&self, position: usize) -> Option<&'static Formal> {
        formal_at(self.outputs, position)
    }

    /// Returns an attribute by name.
    pub fn attr(&self, name: &str) -> Option<&'static AttrSpec> {
        let at = self.attrs.binary_search_by(|attr| attr.name.cmp(name)).ok()?;
        Some(&self.attrs[at])
    }

    /// Returns the allowed types of a formal of this schema.
    pub fn allowed(&self, formal: &Formal) -> &'static TypeSet {
        match formal.ty {
            Ty::Param(index) => self.type_params[usize::from(index)].allowed,
            Ty::Exactly(types) => types,
        }
    }
}

fn formal_at(formals: &'static [Formal], position: usize) -> Option<&'static Formal> {
    formals
        .get(position)
        .or_else(|| formals.last().filter(|last| matches!(last.option, Arity::Variadic { .. })))
}

/// Schemas of a domain.
#[derive(Debug)]
pub struct Domain {
    /// Name; `""` for ai.onnx.
    pub name: &'static str,
    /// Newest opset version in the table.
    pub latest: u16,
    /// Sorted by name, then by version.
    pub(super) schemas: &'static [Schema],
}
