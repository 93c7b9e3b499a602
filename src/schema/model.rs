//! What the schema of one version of an operator says.

use bytes::Bytes;

use crate::graph::{AttrKind, AttrValue};

use super::types::TypeSet;

/// One version of one operator.
#[derive(Debug)]
pub struct Schema {
    /// `""` for ai.onnx.
    pub domain: &'static str,
    pub name: &'static str,
    /// The opset that brought this version.
    pub since: u16,
    /// The first version of the run of versions in which a node means the same (see [`super`]).
    pub epoch: u16,
    pub deprecated: bool,
    /// Defined by ONNX Runtime, not by the ONNX specification.
    pub vendor: bool,
    pub determinism: Determinism,
    /// The specification defines it as a function of other operators.
    pub has_body: bool,
    pub inputs: &'static [Formal],
    pub outputs: &'static [Formal],
    pub min_inputs: u16,
    /// [`u16::MAX`]: any number.
    pub max_inputs: u16,
    pub min_outputs: u16,
    /// [`u16::MAX`]: any number.
    pub max_outputs: u16,
    /// Sorted by name.
    pub attrs: &'static [AttrSpec],
    pub type_params: &'static [TypeParam],
}

/// Whether the outputs are a function of the inputs and attributes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Determinism {
    Deterministic,
    /// Draws random numbers, at least in some mode (`Dropout` while training).
    NonDeterministic,
    /// As its subgraphs or its surroundings are.
    Unknown,
}

/// One formal input or output.
#[derive(Debug)]
pub struct Formal {
    pub name: &'static str,
    pub option: Arity,
    pub ty: Ty,
    /// The integers it holds may not be negative in this version (indices or axes that cannot
    /// count from the end).
    pub non_negative: bool,
}

/// How many values stand for one formal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    Single,
    Optional,
    /// Takes all values from its place on: at least `min`, all of one type if `homogeneous`.
    Variadic {
        homogeneous: bool,
        min: u16,
    },
}

/// The type of a formal.
#[derive(Clone, Copy, Debug)]
pub enum Ty {
    /// The same for every formal that names it: an index into [`Schema::type_params`].
    Param(u8),
    Exactly(&'static TypeSet),
}

/// A type variable, such as `T`.
#[derive(Debug)]
pub struct TypeParam {
    pub name: &'static str,
    pub allowed: &'static TypeSet,
}

#[derive(Debug)]
pub struct AttrSpec {
    pub name: &'static str,
    pub kind: AttrKind,
    pub required: bool,
    pub default: Option<AttrDefault>,
    pub values: Values,
}

/// What an attribute that is not written stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    Int(i64),
    Float(f32),
    String(&'static str),
    Ints(&'static [i64]),
    Strings(&'static [&'static str]),
    /// This integer, as often as there are entries: once for each spatial axis (`strides` and
    /// `dilations` 1), or twice (`pads` 0).
    Every(i64),
}

/// The values that an attribute may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    Any,
    /// Every integer is at least this.
    AtLeast(i64),
    OneOf(&'static [&'static str]),
}

/// The value of an attribute, borrowed, as far as a schema may say something about it.
#[derive(Clone, Copy, Debug)]
pub enum AttrView<'a> {
    Int(i64),
    Float(f32),
    String(&'a [u8]),
    Ints(&'a [i64]),
    Floats(&'a [f32]),
    Strings(&'a [Bytes]),
    /// Only the kind is known, or matters; not even that in a reference to an attribute of the
    /// function around.
    Other(Option<AttrKind>),
}

impl AttrView<'_> {
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
    /// The default as a value; `None` for a list whose length depends on the rank of an input.
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
    /// Whether leaving out the attribute would mean the same as this value.
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
    /// The formal that the input at this position stands for; `None` past the last one.
    pub fn input(&self, position: usize) -> Option<&'static Formal> {
        formal_at(self.inputs, position)
    }

    /// The formal that the output at this position stands for; `None` past the last one.
    pub fn output(&self, position: usize) -> Option<&'static Formal> {
        formal_at(self.outputs, position)
    }

    pub fn attr(&self, name: &str) -> Option<&'static AttrSpec> {
        let at = self.attrs.binary_search_by(|attr| attr.name.cmp(name)).ok()?;
        Some(&self.attrs[at])
    }

    /// The types that a formal of this schema may have.
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
