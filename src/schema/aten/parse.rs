//! Parser of `signatures.txt`.
//!
//! A line is `add.Tensor(Tensor self, Tensor other, Scalar alpha=1) -> Tensor`.

use super::{Kind, Literal, Param, Signature};

/// Names of number parameters that a graph may compute.
const COMPUTED: [&str; 34] = [
    "size",
    "normalized_shape",
    "indices",
    "shifts",
    "diagonal",
    "window_length",
    "shape",
    "start",
    "end",
    "step",
    "index",
    "length",
    "repeats",
    "split_size",
    "split_sizes",
    "sizes",
    "k",
    "pad",
    "dims",
    "output_size",
    "value",
    "fill_value",
    "other",
    "s",
    "exponent",
    "min",
    "max",
    "n",
    "m",
    "steps",
    "input_size",
    "sections",
    "self",
    "x",
];

/// Parses a line; returns `None` if it is invalid.
pub fn signature(line: &'static str) -> Option<Signature> {
    let (name, rest) = line.split_once('(')?;
    let (params, returns) = rest.rsplit_once(") -> ")?;
    let params = split(params).map(|text| param(text, name)).collect::<Option<_>>()?;
    let returns_list = returns.contains("[]");
    Some(Signature { name, params, returns: returns.split(", ").count(), returns_list })
}

/// Splits at the commas outside of brackets.
fn split(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut depth = 0;
    let comma = move |char: char| {
        depth += i32::from(char == '[') - i32::from(char == ']');
        char == ',' && depth == 0
    };
    text.split(comma).map(str::trim).filter(|part| !part.is_empty())
}

/// Parses a parameter of the operator `op`.
fn param(text: &'static str, op: &str) -> Option<Param> {
    let (declared, default) = match text.split_once('=') {
        Some((declared, default)) => (declared, Some(default)),
        None => (text, None),
    };
    let (ty, name) = declared.rsplit_once(' ')?;
    let is_optional = ty.ends_with('?');
    let ty = ty.trim_end_matches('?');
    let (base, length) = match ty.split_once('[') {
        Some((base, length)) => (base.trim_end_matches('?'), Some(length.trim_end_matches([']', '?']))),
        None => (ty, None),
    };
    let (kind, may_be_computed) = match base {
        "Tensor" => (Kind::Tensor, true),
        "SymInt" => (Kind::Int, true),
        // PyTorch passes symbolic sizes although the signatures declare integers.
        "int" => (Kind::Int, matches!(name, "window_length") || op.ends_with("fftfreq")),
        "float" => (Kind::Float, false),
        "bool" => (Kind::Bool, false),
        "str" => (Kind::Str, false),
        "Scalar" => (Kind::Scalar, true),
        "ScalarType" => (Kind::Elem, false),
        _ => return None,
    };
    let is_stride = name == "stride" && op.starts_with("as_strided") || name == "storage_offset";
    let is_input = may_be_computed && (kind == Kind::Tensor || COMPUTED.contains(&name) || is_stride);
    let repeat = length.and_then(|length| length.parse().ok());
    let default = match default {
        Some(text) => Some(literal(text, kind, repeat)?),
        None => None,
    };
    Some(Param { name, kind, is_list: length.is_some(), repeat, is_optional, default, is_input })
}

fn literal(text: &'static str, kind: Kind, repeat: Option<usize>) -> Option<Literal> {
    let number = |text: &str| match text {
        // `Mean` is loss reduction 1 in PyTorch, and `long` is element type 7 in ONNX.
        "Mean" => Some(1),
        "long" => Some(7),
        _ => text.trim().parse::<i64>().ok(),
    };
    Some(match text {
        "None" => Literal::None,
        "True" => Literal::Bool(true),
        "False" => Literal::Bool(false),
        "[]" => Literal::Ints(Vec::new()),
        _ => match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(list) => Literal::Ints(list.split(',').map(number).collect::<Option<_>>()?),
            None if text.starts_with(['"', '\'']) => Literal::Str(text.trim_matches(['"', '\''])),
            None if kind == Kind::Float => Literal::Float(text.parse().ok()?),
            None => match (number(text), repeat) {
                (Some(number), Some(repeat)) => Literal::Ints(vec![number; repeat]),
                (Some(number), None) => Literal::Int(number),
                (None, _) => Literal::Float(text.parse().ok()?),
            },
        },
    })
}
