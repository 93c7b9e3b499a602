//! What the schema of one version of an operator says.

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

/// The kinds of attributes, with the numbers of `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AttrKind {
    Float = 1,
    Int = 2,
    Str = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strs = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    Type = 13,
    Types = 14,
}

impl AttrKind {
    /// With its article, as a sentence needs it: `an int`, `a list of ints`.
    pub fn with_article(self) -> String {
        let article = if self == AttrKind::Int { "an" } else { "a" };
        format!("{article} {}", self.name())
    }

    /// The word for it in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            AttrKind::Float => "float",
            AttrKind::Int => "int",
            AttrKind::Str => "string",
            AttrKind::Tensor => "tensor",
            AttrKind::Graph => "graph",
            AttrKind::Floats => "list of floats",
            AttrKind::Ints => "list of ints",
            AttrKind::Strs => "list of strings",
            AttrKind::Tensors => "list of tensors",
            AttrKind::Graphs => "list of graphs",
            AttrKind::SparseTensor => "sparse tensor",
            AttrKind::SparseTensors => "list of sparse tensors",
            AttrKind::Type => "type",
            AttrKind::Types => "list of types",
        }
    }
}

/// What an attribute that is not written stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    Int(i64),
    Float(f32),
    Str(&'static str),
    Ints(&'static [i64]),
    Floats(&'static [f32]),
    Strs(&'static [&'static str]),
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

/// The value of an attribute, where a schema may say something about it.
#[derive(Clone, Copy, Debug)]
pub enum AttrValue<'a> {
    Int(i64),
    Float(f32),
    Str(&'a [u8]),
    Ints(&'a [i64]),
    Floats(&'a [f32]),
    /// Only the kind is known, or matters.
    Other(AttrKind),
}

impl AttrValue<'_> {
    pub fn kind(self) -> AttrKind {
        match self {
            AttrValue::Int(_) => AttrKind::Int,
            AttrValue::Float(_) => AttrKind::Float,
            AttrValue::Str(_) => AttrKind::Str,
            AttrValue::Ints(_) => AttrKind::Ints,
            AttrValue::Floats(_) => AttrKind::Floats,
            AttrValue::Other(kind) => kind,
        }
    }
}

impl AttrSpec {
    /// Whether leaving out the attribute would mean the same as this value.
    ///
    /// Defaults that are lists of strings count as never met (`activations` of `RNN`).
    pub fn is_default(&self, value: AttrValue) -> bool {
        match (self.default, value) {
            (Some(AttrDefault::Int(default)), AttrValue::Int(int)) => default == int,
            (Some(AttrDefault::Float(default)), AttrValue::Float(float)) => default == float,
            (Some(AttrDefault::Str(default)), AttrValue::Str(text)) => default.as_bytes() == text,
            (Some(AttrDefault::Ints(default)), AttrValue::Ints(ints)) => default == ints,
            (Some(AttrDefault::Floats(default)), AttrValue::Floats(floats)) => default == floats,
            (Some(AttrDefault::Every(default)), AttrValue::Ints(ints)) => {
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
