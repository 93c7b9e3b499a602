//! Remarks: the warnings and exceptions of an export log, classified by their fault.

use std::sync::Arc;

use crate::diag::SourcePlace;
use crate::source::{is_installed, without_comment};

use super::rejected::Rejection;
use super::violation::Guard;

/// A warning or exception in the log. Duplicates are merged into one remark.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Fault that the log reports.
    pub kind: Kind,
    /// Line of the user's code, from the log, its graphs, or the sources.
    pub place: Option<SourcePlace>,
    /// 1-based line of the first occurrence in the log.
    pub log_line: u32,
    /// Text of that line.
    pub log_text: Arc<str>,
    /// Whether the log attributes the remark to a library, such as PyTorch, instead of the user's code.
    pub in_library: bool,
    /// False if `place` is only a likely cause, found by a search in the sources.
    pub certain: bool,
    /// Number of occurrences for this place.
    pub count: u32,
    /// Further violated constraints and suggested fixes in the message of the exporter.
    pub details: Vec<String>,
}

/// Python type that a tensor was converted to, outside of the trace.
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

/// Fault of a remark. Quoted texts are warnings and exceptions of PyTorch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The warning "Converting a tensor to a Python …".
    PythonValue(PythonType),
    /// The warning "torch.tensor results are registered as constants in the trace".
    ConstantTensor { function: String },
    /// The warning "Iterating over a tensor".
    Iteration,
    /// The warning "Using len to get tensor shape".
    Length,
    /// The warning "There are N live references to the data region being modified … operator NAME".
    SharedWrite { references: u32, operator: String },
    /// The warning "In-place op on output of tensor.shape".
    ShapeWrite,
    /// The warning "ONNX Preprocess - Removing mutation from node aten::add_ on block input: 'x'".
    MutationRemoved { operator: String, value: String },
    /// The warning "Exporting aten::index operator of advanced indexing …" about negative indices.
    AdvancedIndex,
    /// The exception "Only consecutive 1-d tensor indices are supported in exporting aten::index_put".
    IndexPutNonConsecutive,
    /// A dynamic axis that must have one size: "specialized it to be a constant (2)".
    Specialized { input: Input, axis: Option<u32>, size: Option<i64> },
    /// A condition on a size that the declared range does not guarantee: "the generated guard … <= 8".
    Guarded { guard: Guard },
    /// Two independently declared sizes that must be equal.
    Equal { one: String, other: String },
    /// An example size of 1 (or 0), which torch.export specializes.
    ZeroOneSpecialized { input: Input, axis: Option<u32>, size: i64 },
    /// A Python branch on a tensor value, or a conversion that raises the same exception:
    /// "Could not guard on data-dependent expression".
    DataDependentBranch { expression: String },
    /// A conversion of a tensor value to a Python number: "Could not extract specialized integer".
    DataDependentNumber { expression: String },
    /// NumPy needs the values of a tensor that has none during the export.
    NumpyCall,
    /// An unsupported operator; `since` is the first opset that supports the operator.
    Unsupported { operator: String, opset: Option<u32>, since: Option<u32> },
    /// A `torch.autograd.Function` without `symbolic`.
    PythonOperator { name: String },
    /// A dictionary or a string among the outputs; `fatal` if the export failed because of it.
    DictOutput { fatal: bool },
    /// The exception "output of traced region did not have observable data dependence with trace inputs".
    ConstantOutput,
    /// The warning "resize can't be represented in the JIT", or "Tensor-valued Constant nodes differed in
    /// value".
    Untraced { what: String },
    /// The warning "Graphs differed across invocations", or "Output nr 1. of the traced function does not
    /// match".
    TraceDiffers,
    /// An unrecognized warning of the tracer.
    UnknownWarning { message: String },
    /// The model, or an operator in it, was exported in training mode.
    TrainingMode { operator: Option<String> },
    /// A name in `dynamic_axes` that is not an input or output.
    UnknownDynamicAxis { name: String },
    /// A recurrent layer whose initial state has the traced batch size.
    RecurrentBatch,
    /// The warning "You are trying to export the model with onnx:Resize for ONNX opset version 10".
    ResizeSemantics,
    /// A runtime rejects a model, or fails in a run.
    Rejected(Rejection),
    /// The conversion to the requested opset failed after the export.
    NotConverted { requested: Option<u32>, kept: Option<u32>, message: String },
    /// The export failed for another reason.
    Failed { class: String, message: String },
}

/// Input of `forward` in an exception of torch.export.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Name of the parameter, as in `L['x']`.
    Named(String),
    /// 0-based position, as in `inputs[0]`.
    Position(usize),
    Unknown,
}

impl Remark {
    /// Returns the line of code, trimmed and without its comment; empty if unknown.
    pub fn code(&self) -> &str {
        self.place
            .as_ref()
            .and_then(|place| place.code.as_deref())
            .map_or("", |code| without_comment(code).trim())
    }

    /// Returns true if the remark is about a value that tracing turned into a Python number or a constant.
    ///
    /// The trace is wrong only if the value varies with the input.
    pub fn is_of_a_value(&self) -> bool {
        matches!(
            self.kind,
            Kind::PythonValue(_) | Kind::ConstantTensor { .. } | Kind::Iteration | Kind::Length
        )
    }

    /// Returns true if the line is in an installed package, such as `transformers` or `torchvision`.
    ///
    /// Most warnings about installed packages are harmless, since working models cause them, too.
    pub fn is_in_a_package(&self) -> bool {
        self.place.as_ref().is_some_and(|place| is_installed(&place.file))
    }
}
