//! Classification of export exceptions by their messages, as worded by PyTorch 1.10 to 2.x.
//!
//! Sources of the messages: `torch/onnx/{errors,utils,symbolic_helper}.py`,
//! `torch/onnx/_internal/exporter/*.py`, `torch/_export/non_strict_utils.py`,
//! `torch/fx/experimental/symbolic_shapes.py`, `torch/_dynamo/exc.py`, `torch/fx/proxy.py`.

use super::remark::{Input, Kind};
use super::violation;
use super::words::{after, first_word, quoted};

/// Returns the fault behind an exception; `None` if the message is unknown.
pub fn cause(class: &str, message: &str) -> Option<Kind> {
    specialized(message)
        .or_else(|| data_dependent(class, message))
        .or_else(|| python_operator(message))
        .or_else(|| unsupported(message))
        .or_else(|| other(message))
}

/// Recognizes violated constraints on dynamic axes, such as an axis specialized to a static size.
fn specialized(message: &str) -> Option<Kind> {
    if let Some(rest) = after(message, "tracing inferred a static shape of ") {
        let (input, axis) = dimension(after(rest, "for dimension ").unwrap_or(""));
        return Some(Kind::Specialized { input, axis, size: number(rest) });
    }
    if let Some(rest) = after(message, "export 0/1 specialized due to hint of ") {
        let (input, axis) = dimension(after(rest, "for dimension ").unwrap_or(""));
        return Some(Kind::ZeroOneSpecialized { input, axis, size: number(rest)? });
    }
    let constant = ["specialized it to be a constant (", "was inferred to be a constant ("];
    let size = constant.iter().find_map(|wording| after(message, wording)).and_then(number);
    let fixed = |size| {
        let sentence = message.lines().find(|line| constant.iter().any(|wording| line.contains(wording)));
        let axis = sentence.and_then(|sentence| after(sentence, "L['"));
        let (input, axis) = axis.map_or((Input::Unknown, None), named_dimension);
        Kind::Specialized { input, axis, size: Some(size) }
    };
    size.map(fixed)
        .or_else(|| violation::guard(message).map(|guard| Kind::Guarded { guard }))
        .or_else(|| violation::equal(message).map(|(one, other)| Kind::Equal { one, other }))
}

/// Parses the input and the axis of a size, such as `inputs[0].shape[1]` or `L['x'].size()[1]`.
fn dimension(text: &str) -> (Input, Option<u32>) {
    if let Some(rest) = text.strip_prefix("L['") {
        return named_dimension(rest);
    }
    let input = text.strip_prefix("inputs[").and_then(number).and_then(|at| usize::try_from(at).ok());
    let axis = after(text, ".shape[").and_then(number).and_then(|axis| u32::try_from(axis).ok());
    (input.map_or(Input::Unknown, Input::Position), axis)
}

/// Parses the input and the axis of a size after the text `L['`, such as `x'].size()[1]`.
fn named_dimension(text: &str) -> (Input, Option<u32>) {
    let Some((name, rest)) = text.split_once("']") else { return (Input::Unknown, None) };
    let axis = rest.strip_prefix(".size()[").and_then(number).and_then(|axis| u32::try_from(axis).ok());
    (Input::Named(name.to_owned()), axis)
}

/// Parses the decimal number at the start of `text`.
fn number(text: &str) -> Option<i64> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit() && byte != b'-').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Recognizes Python code that depends on tensor values.
fn data_dependent(class: &str, message: &str) -> Option<Kind> {
    let expression =
        |rest: &str| rest.split(" (").next().and_then(|e| e.lines().next()).unwrap_or("").trim().to_owned();
    if let Some(rest) = after(message, "Could not guard on data-dependent expression ") {
        return Some(Kind::DataDependentBranch { expression: expression(rest) });
    }
    if let Some(rest) =
        after(message, "Could not extract specialized integer from data-dependent expression ")
    {
        return Some(Kind::DataDependentNumber { expression: expression(rest) });
    }
    let branches = [
        "Dynamic control flow is not supported",
        "Data-dependent branching",
        "Data dependent branching",
        "generic_jump TensorVariable",
        "symbolically traced variables cannot be used as inputs to control flow",
    ];
    if branches.iter().any(|wording| message.contains(wording)) {
        return Some(Kind::DataDependentBranch { expression: String::new() });
    }
    let numbers = [
        "trying to get a value out of symbolic int/float whose value is data-dependent",
        "aten._local_scalar_dense",
        "Unsupported Tensor.item() call",
        "Tensor.item()",
    ];
    if class.ends_with("DataDependentOutputException") || numbers.iter().any(|w| message.contains(w)) {
        return Some(Kind::DataDependentNumber { expression: String::new() });
    }
    let numpy = [".numpy() is not supported for tensor subclasses", "Cannot access data pointer of Tensor"];
    if numpy.iter().any(|wording| message.contains(wording)) {
        return Some(Kind::NumpyCall);
    }
    message.contains("Proxy object cannot be iterated").then_some(Kind::Iteration)
}

fn python_operator(message: &str) -> Option<Kind> {
    let wordings = ["export Python operator ", "export Python function ", "prim::PythonOp"];
    let rest = wordings.iter().find_map(|wording| after(message, wording))?;
    let name = first_word(rest.trim_start_matches(['\'', '"', '.', '^']));
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    // After a bare `prim::PythonOp`, the message continues without a name.
    let name =
        if message.contains("prim::PythonOp' ") || message.contains("prim::PythonOp to") { "" } else { name };
    Some(Kind::PythonOperator { name: name.to_owned() })
}

fn unsupported(message: &str) -> Option<Kind> {
    let kind =
        |operator: &str, opset, since| Kind::Unsupported { operator: operator.to_owned(), opset, since };
    if let Some(rest) = after(message, "Exporting the operator ") {
        let opset = after(rest, "ONNX opset version ").and_then(small);
        let since = after(rest, "was added in version ").and_then(small);
        return Some(kind(quoted(rest).unwrap_or_else(|| first_word(rest)), opset, since));
    }
    if let Some(rest) = after(message, "No ONNX function found for ") {
        let operator = after(rest, "op='").and_then(|rest| rest.split('\'').next());
        let function =
            after(rest, "<function ").or_else(|| after(rest, "<built-in function ")).map(first_word);
        let operator = operator.or(function.map(|name| name.trim_end_matches('>')));
        return Some(kind(operator.unwrap_or_else(|| first_word(rest).trim_end_matches('.')), None, None));
    }
    if let Some(rest) = after(message, "Unsupported: ONNX export of ") {
        let operator =
            first_word(rest.strip_prefix("operator ").unwrap_or(rest)).trim_end_matches([',', '.']);
        let opset = after(rest, " in opset ").and_then(small);
        return Some(kind(operator, opset, after(rest, "try opset version ").and_then(small)));
    }
    if let Some(rest) = after(message, "Unsupported FX nodes: ") {
        let operator = after(rest, "['").and_then(|rest| rest.split('\'').next()).unwrap_or("");
        return Some(kind(operator, None, None));
    }
    let wordings = [
        "ONNX export failed on ATen operator ",
        "Couldn't export operator ",
        "Cannot find symbolic function for ",
        "ONNX export failed on an operator with unrecognized namespace ",
    ];
    let rest = wordings.iter().find_map(|wording| after(message, wording))?;
    let operator = quoted(rest).unwrap_or_else(|| first_word(rest)).trim_end_matches([',', '.', ';']);
    Some(kind(operator, None, None))
}

fn small(text: &str) -> Option<u32> {
    number(text).and_then(|value| u32::try_from(value).ok())
}

fn other(message: &str) -> Option<Kind> {
    if message.contains("Only consecutive 1-d tensor indices are supported in exporting aten::index_put") {
        return Some(Kind::IndexPutNonConsecutive);
    }
    let dictionaries = [
        "Encountering a dict at the output of the tracer",
        "received an output of unsupported type",
        "Only tuples, lists and Variables supported as JIT inputs/outputs",
    ];
    if dictionaries.iter().any(|wording| message.contains(wording)) {
        return Some(Kind::DictOutput { fatal: true });
    }
    let constant = "did not have observable data dependence with trace inputs";
    message.contains(constant).then_some(Kind::ConstantOutput)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Option<Kind>) {
        assert_eq!(cause("SomeError", message), expected, "{message}");
    }

    fn unsupported(operator: &str, opset: Option<u32>, since: Option<u32>) -> Option<Kind> {
        Some(Kind::Unsupported { operator: operator.into(), opset, since })
    }

    #[test]
    fn messages_about_unsupported_operators_are_recognized() {
        check(
            "Exporting the operator 'aten::special_bessel_j0' to ONNX opset version 17 is not supported",
            unsupported("aten::special_bessel_j0", Some(17), None),
        );
        check(
            "Exporting the operator 'aten::tril' to ONNX opset version 13 is not supported. Support for this \
             operator was added in version 14. Please try exporting with this version.",
            unsupported("aten::tril", Some(13), Some(14)),
        );
        check(
            "Exporting the operator eye to ONNX opset version 8 is not supported. Please open a bug",
            unsupported("eye", Some(8), None),
        );
        check(
            "No ONNX function found for <OpOverload(op='prims.bessel_j0', overload='default')>. Failure message",
            unsupported("prims.bessel_j0", None, None),
        );
        check(
            "Unsupported: ONNX export of Pad in opset 9. Please try opset version 11.",
            unsupported("Pad", Some(9), Some(11)),
        );
        check(
            "Unsupported: ONNX export of operator instance_norm, unknown rank. Please",
            unsupported("instance_norm", None, None),
        );
        check(
            "Unsupported FX nodes: {'call_function': ['aten.bessel.default']}. ",
            unsupported("aten.bessel.default", None, None),
        );
        check(
            "ONNX export failed on ATen operator einsum because torch.onnx.symbolic.einsum does not exist",
            unsupported("einsum", None, None),
        );
    }

    #[test]
    fn specialized_sizes_are_recognized() {
        let named = |size| {
            Some(Kind::Specialized { input: Input::Named("x".into()), axis: Some(1), size: Some(size) })
        };
        check(
            "Constraints violated (L['x'].size()[1])! For more\n  - You marked L['x'].size()[1] as dynamic but \
             your code specialized it to be a constant (2). If",
            named(2),
        );
        check(
            "Constraints violated (batch)!\n  - Not all values of batch = L['x'].size()[1] in the specified \
             range are valid because batch was inferred to be a constant (4).",
            named(4),
        );
        check(
            "- Received user-specified dim hint Dim.DYNAMIC(min=None, max=None), but tracing inferred a static \
             shape of 2 for dimension inputs[3].shape[0].",
            Some(Kind::Specialized { input: Input::Position(3), axis: Some(0), size: Some(2) }),
        );
        check(
            "but export 0/1 specialized due to hint of 1 for dimension inputs[0].shape[2].",
            Some(Kind::ZeroOneSpecialized { input: Input::Position(0), axis: Some(2), size: 1 }),
        );
        check(
            "Constraints violated (batch)!\n - You marked batch as dynamic but your code specialized it to be a \
             constant (8).",
            Some(Kind::Specialized { input: Input::Unknown, axis: None, size: Some(8) }),
        );
    }

    #[test]
    fn data_dependent_code_is_recognized() {
        check(
            "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like",
            Some(Kind::DataDependentBranch { expression: "Eq(u0, 1)".into() }),
        );
        check(
            "Could not extract specialized integer from data-dependent expression u0 (unhinted: u0).",
            Some(Kind::DataDependentNumber { expression: "u0".into() }),
        );
        check(
            "Dynamic control flow is not supported at the moment. Please use functorch",
            Some(Kind::DataDependentBranch { expression: String::new() }),
        );
        check(".numpy() is not supported for tensor subclasses.", Some(Kind::NumpyCall));
    }

    #[test]
    fn other_exceptions_are_recognized() {
        check(
            "ONNX export failed: Couldn't export Python operator SwishFunction\n\nDefined at:",
            Some(Kind::PythonOperator { name: "SwishFunction".into() }),
        );
        check(
            "Exporting the operator 'prim::PythonOp' to ONNX opset version 13 is not supported.",
            Some(Kind::PythonOperator { name: String::new() }),
        );
        check(
            "Dictionaries and strings are also accepted, but their usage is not recommended. Here, received an \
             output of unsupported type: str",
            Some(Kind::DictOutput { fatal: true }),
        );
        check("list index out of range", None);
        check("", None);
    }
}
