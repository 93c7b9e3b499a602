//! Classification of warnings by their messages, as worded by PyTorch 1.10 to 2.x.
//!
//! Sources of the messages: `torch/csrc/jit/frontend/tracer.cpp`, `torch/_tensor.py`,
//! `torch/jit/_trace.py`, `torch/csrc/jit/passes/onnx/*.cpp`, `torch/onnx/{utils,symbolic_*}.py`.

use crate::source::is_library;

use super::remark::{Kind, PythonType};
use super::words::{after, first_word, quoted};

/// A warning printed by Python or by C++ code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning<'a> {
    /// Fault that the warning reports.
    pub kind: Kind,
    /// File and 1-based line in the warning.
    pub location: Option<(&'a str, u32)>,
}

/// Returns the warning in `line`, if it concerns the exported graph.
pub fn warning(line: &str) -> Option<Warning<'_>> {
    // Lines of a graph dump are long, and never warnings.
    if line.trim_start().starts_with('%') {
        return None;
    }
    let (head, message) = split(line);
    let kind = kind(message).or_else(|| rule_of_the_exporter(line)).or_else(|| unknown(line, message))?;
    Some(Warning { kind, location: head.and_then(location) })
}

/// Returns an unrecognized warning of the tracer.
fn unknown(line: &str, message: &str) -> Option<Kind> {
    let message: String = message.trim().chars().take(MAX_QUOTED).collect();
    let of_tracer = line.contains("TracerWarning: ") && !message.is_empty();
    of_tracer.then_some(Kind::UnknownWarning { message })
}

/// Maximum number of characters to quote from an unrecognized warning.
const MAX_QUOTED: usize = 120;

/// Recognizes diagnostics of PyTorch 2.0 to 2.5 (POE0001 …, FXE0001 …) about unsupported operators.
fn rule_of_the_exporter(line: &str) -> Option<Kind> {
    let name = line.trim().strip_prefix("ERROR: ")?;
    let unsupported = [
        "missing-standard-symbolic-function",
        "missing-custom-symbolic-function",
        "operator-supported-in-newer-opset-version",
        "no-symbolic-function-for-call-function",
        "unsupported-fx-node-analysis",
    ];
    let operator = String::new();
    unsupported.contains(&name).then_some(Kind::Unsupported { operator, opset: None, since: None })
}

/// Splits a line at `SomeWarning: `; without it, the whole line is the message.
fn split(line: &str) -> (Option<&str>, &str) {
    let Some(at) = line.find("Warning: ") else { return (None, line) };
    let head = line[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (Some(head), &line[at + "Warning: ".len()..])
}

/// Parses `…/net.py:66: ` at the end of `head`, without the prefix of a logger.
fn location(head: &str) -> Option<(&str, u32)> {
    let (path, line) = head.trim_end().strip_suffix(':')?.rsplit_once(':')?;
    let absolute = [" /", ":/", "]/"].iter().filter_map(|mark| path.rfind(mark).map(|at| at + 1)).max();
    // A Windows path, `C:/…`, starts two bytes before its first slash.
    let drive = |at: usize| at >= 2 && path.as_bytes()[at - 1] == b':' && is_drive(&path[..at - 1]);
    let start = match absolute {
        _ if path.starts_with('/') => 0,
        Some(at) if drive(at) => at - 2,
        Some(at) => at,
        None => path.len() - path.trim_start().len(),
    };
    let path = path.get(start..)?;
    (!path.is_empty()).then_some((path, line.parse().ok()?))
}

fn is_drive(head: &str) -> bool {
    let mut back = head.chars().rev();
    back.next().is_some_and(|c| c.is_ascii_alphabetic()) && back.next().is_none_or(|c| !c.is_alphanumeric())
}

fn kind(message: &str) -> Option<Kind> {
    tracer(message).or_else(|| exporter(message)).or_else(|| training(message))
}

/// Recognizes warnings of the tracer.
fn tracer(message: &str) -> Option<Kind> {
    if let Some(rest) = after(message, "Converting a tensor to a ") {
        return python_type(rest).map(Kind::PythonValue);
    }
    if let Some(function) = message.split(" results are registered as constants in the trace").next()
        && function.len() < message.len()
    {
        let function = function.rsplit(' ').next().unwrap_or(function);
        return Some(Kind::ConstantTensor { function: function.to_owned() });
    }
    if let Some((what, _)) = message.split_once(" can't be represented in the JIT at the moment") {
        return Some(Kind::Untraced { what: what.rsplit(' ').next().unwrap_or(what).to_owned() });
    }
    if message.contains("Tensor-valued Constant nodes differed in value across invocations") {
        return Some(Kind::Untraced { what: String::new() });
    }
    if message.contains("Graphs differed across invocations")
        || message
            .contains("of the traced function does not match the corresponding output of the Python function")
    {
        return Some(Kind::TraceDiffers);
    }
    if message.contains("Iterating over a tensor might cause the trace to be incorrect") {
        return Some(Kind::Iteration);
    }
    if message.contains("Using len to get tensor shape might cause the trace to be incorrect") {
        return Some(Kind::Length);
    }
    if let Some((references, rest)) = after(message, "There are ")?.split_once(" live references to") {
        let operator = after(rest, "in-place operator ").map(first_word).unwrap_or_default();
        return Some(Kind::SharedWrite {
            references: references.parse().ok()?,
            operator: operator.trim_end_matches('.').to_owned(),
        });
    }
    None
}

fn python_type(rest: &str) -> Option<PythonType> {
    let types = [
        ("NumPy array", PythonType::Array),
        ("Python boolean", PythonType::Boolean),
        ("Python integer", PythonType::Integer),
        ("Python float", PythonType::Float),
        ("Python number", PythonType::Number),
        ("Python index", PythonType::Index),
        ("Python list", PythonType::List),
    ];
    types.into_iter().find(|(name, _)| rest.starts_with(name)).map(|(_, kind)| kind)
}

/// Recognizes warnings of the passes and symbolic functions of the exporters.
fn exporter(message: &str) -> Option<Kind> {
    if message.contains("In-place op on output of tensor.shape") {
        return Some(Kind::ShapeWrite);
    }
    if let Some(rest) = after(message, "ONNX Preprocess - Removing mutation ") {
        let operator = after(rest, "from node ").map(first_word).unwrap_or_default();
        return Some(Kind::MutationRemoved {
            operator: operator.to_owned(),
            value: quoted(after(rest, "on block input: ")?)?.to_owned(),
        });
    }
    if message.contains("operator of advanced indexing in opset")
        && message.contains("If indices include negative values")
    {
        return Some(Kind::AdvancedIndex);
    }
    if let Some(rest) = after(message, "Provided key ")
        && let Some((name, _)) = rest.split_once(" for dynamic axes is not a valid input/output name")
    {
        return Some(Kind::UnknownDynamicAxis { name: name.to_owned() });
    }
    if message.contains("Exporting a model to ONNX with a batch_size other than 1") {
        return Some(Kind::RecurrentBatch);
    }
    if message.contains("You are trying to export the model with onnx:")
        && message.contains("might cause results to not match")
    {
        return Some(Kind::ResizeSemantics);
    }
    None
}

/// Recognizes warnings that the model, or a layer of it, is in training mode.
fn training(message: &str) -> Option<Kind> {
    let whole_model = [
        "Exporting a model while it is in training mode",
        "when exporting the model in training-amenable mode",
        "You are exporting the model to ONNX while in training mode",
        "Dropout is a training op and should not be exported in inference mode",
    ];
    if message.contains("Trace had nondeterministic nodes") {
        return Some(Kind::TrainingMode { operator: None });
    }
    if whole_model.iter().any(|wording| message.contains(wording)) {
        return Some(Kind::TrainingMode { operator: None });
    }
    let operator = quoted(after(message, "ONNX export mode is set to")?.split_once("but operator ")?.1)?;
    let trains = message.contains("is set to train");
    trains.then(|| Kind::TrainingMode { operator: Some(operator.to_owned()) })
}

/// A size that torch.export specialized, as printed by `TORCH_LOGS=+dynamic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard<'a> {
    /// 0-based line of the log.
    pub log_line: usize,
    /// The only valid size.
    pub size: i64,
    /// File and 1-based line of the user's code.
    pub location: (&'a str, u32),
}

/// Parses the size and the user's source line of a guard that torch.export added.
///
/// The line is `eval Eq(s0, 2) [guard added] at net.py:60 in forward (_ops.py:10 in call)`. Newer versions of
/// PyTorch print `… [guard added] x.reshape(2, 12)  # net.py:60 in forward`.
pub fn guard(line: &str, log_line: usize) -> Option<Guard<'_>> {
    let (expression, rest) = line.split_once(" [guard added]")?;
    let size = expression.strip_suffix(')')?.rsplit_once(", ")?.1.parse().ok()?;
    let mut places = rest.split(" in ").filter_map(|part| {
        let word = part.rsplit([' ', '(']).next()?;
        let (file, line) = word.rsplit_once(':')?;
        Some((file, line.parse().ok()?))
    });
    let users = |file: &str| file.ends_with(".py") && !file.starts_with('_') && !is_library(file);
    let location = places.find(|(file, _)| users(file))?;
    Some(Guard { log_line, size, location })
}
