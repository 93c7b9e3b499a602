//! What an export log says, in the terms of the exporter.

use std::sync::Arc;

use crate::diag::SourcePlace;
use crate::source::{is_installed, without_comment};

use super::violation::Guard;

/// One thing that the log says, however often it says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub kind: Kind,
    /// The line of the user's own code, where the log, the graph in it, or the sources tell.
    pub place: Option<SourcePlace>,
    /// 1-based line of the log where it is first said.
    pub log_line: u32,
    /// That line.
    pub log_text: Arc<str>,
    /// Whether the log blames a line of PyTorch's own, which nobody but PyTorch can change.
    pub in_library: bool,
    /// False where `place` was only found by looking for what may have led to the remark.
    pub certain: bool,
    /// How often the log says it of this place.
    pub count: u32,
    /// What the exporter says beside it: other axes, and what it suggests.
    pub details: Vec<String>,
}

/// What a value was turned into when the tracer lost sight of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PythonType {
    Boolean,
    Integer,
    Float,
    Number,
    Index,
    List,
    Array,
}

/// The kinds of remark that are understood.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// "Converting a tensor to a Python …".
    PythonValue(PythonType),
    /// "torch.tensor results are registered as constants in the trace".
    ConstantTensor { function: String },
    /// "Iterating over a tensor".
    Iteration,
    /// "Using len to get tensor shape".
    Length,
    /// "There are N live references to the data region being modified … operator NAME".
    SharedWrite { references: u32, operator: String },
    /// "In-place op on output of tensor.shape".
    ShapeWrite,
    /// "ONNX Preprocess - Removing mutation from node aten::add_ on block input: 'x'".
    MutationRemoved { operator: String, value: String },
    /// "Exporting aten::index operator of advanced indexing … If indices include negative values".
    AdvancedIndex,
    /// "Only consecutive 1-d tensor indices are supported in exporting aten::index_put".
    IndexPutNonConsecutive,
    /// A size that the model works for alone: "specialized it to be a constant (2)".
    Specialized { input: Input, axis: Option<u32>, size: Option<i64> },
    /// A condition on a size, which not all sizes that were promised meet: "the generated guard … <= 8".
    Guarded { guard: Guard },
    /// Two sizes that the code takes for equal, though they were promised to be two.
    Equal { one: String, other: String },
    /// An example size of 1 (or 0), which torch.export never leaves free.
    ZeroOneSpecialized { input: Input, axis: Option<u32>, size: i64 },
    /// A Python decision on a value of the data: "Could not guard on data-dependent expression".
    DataDependentBranch { expression: String },
    /// A Python number out of the data: "Could not extract specialized integer".
    DataDependentNumber { expression: String },
    /// NumPy asked for the values of a tensor that has none yet.
    NumpyCall,
    /// An operator without an ONNX form; `since`: the first opset that has one.
    Unsupported { operator: String, opset: Option<u32>, since: Option<u32> },
    /// A `torch.autograd.Function` without `symbolic`.
    PythonOperator { name: String },
    /// A dictionary or a string among the outputs.
    DictOutput { fatal: bool },
    /// "output of traced region did not have observable data dependence with trace inputs".
    ConstantOutput,
    /// "resize can't be represented in the JIT", "Tensor-valued Constant nodes differed in value".
    Untraced { what: String },
    /// "Graphs differed across invocations", "Output nr 1. of the traced function does not match".
    TraceDiffers,
    /// A warning of the tracer whose wording is not known.
    UnknownWarning { message: String },
    /// The model, or one operator of it, was exported in training mode.
    TrainingMode { operator: Option<String> },
    /// A name in `dynamic_axes` that is no input or output.
    UnknownDynamicAxis { name: String },
    /// A recurrent layer whose initial state has the traced batch size.
    RecurrentBatch,
    /// "You are trying to export the model with onnx:Resize for ONNX opset version 10".
    ResizeSemantics,
    /// The export stopped for a reason that has no rule of its own.
    Failed { class: String, message: String },
}

/// Which input of `forward` an exception of torch.export speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// `L['x']`: the parameter's name.
    Named(String),
    /// `inputs[0]`: its 0-based position.
    Position(usize),
    Unknown,
}

impl Remark {
    /// The line of code it speaks of, trimmed and without its comment; empty where it is not known.
    pub fn code(&self) -> &str {
        self.place
            .as_ref()
            .and_then(|place| place.code.as_deref())
            .map_or("", |code| without_comment(code).trim())
    }

    /// Whether a number or a decision left the trace, which is wrong only where it varies with the input.
    pub fn is_of_a_value(&self) -> bool {
        matches!(
            self.kind,
            Kind::PythonValue(_) | Kind::ConstantTensor { .. } | Kind::Iteration | Kind::Length
        )
    }

    /// Whether its line is of an installed package: transformers, torchvision. What a log says of those is true of
    /// nearly every model that works, and only the graph shows where it is not.
    pub fn is_in_a_package(&self) -> bool {
        self.place.as_ref().is_some_and(|place| is_installed(&place.file))
    }
}
