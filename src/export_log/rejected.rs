//! Errors of runtimes in a log: rejected models, and nodes that fail in a run.
//!
//! Sources of the messages: `onnxruntime/core/{graph,framework}/*.cc`, and `ModelImporter.cpp` of onnx-tensorrt.

use super::words::{after, first_word, quoted};

/// Start of the messages of ONNX Runtime.
pub const ONNX_RUNTIME: &str = "[ONNXRuntimeError]";

/// Maximum number of lines of a message of TensorRT.
const MAX_LINES: usize = 40;

/// Maximum number of characters to quote from a message.
const MAX_QUOTED: usize = 200;

/// A model that a runtime rejects, or a run that fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rejection {
    /// Name of the runtime.
    pub runtime: &'static str,
    /// Path of the model; empty if unknown.
    pub file: String,
    /// Name of the node; empty if unknown.
    pub node: String,
    /// Reason, such as the types of the inputs.
    pub reason: String,
    /// Whether the model was loaded, and a run failed.
    pub in_run: bool,
}

/// Parses a message of ONNX Runtime.
///
/// Example: `[ONNXRuntimeError] : 1 : FAIL : Load model from a.onnx failed:…`.
pub fn by_onnx_runtime(message: &str) -> Option<Rejection> {
    let rest = after(message, ONNX_RUNTIME)?;
    let code = rest.split(':').nth(2).unwrap_or("").trim();
    let said = rest.splitn(4, ':').nth(3).unwrap_or("").trim();
    let file = after(said, "Load model from ").map_or("", |rest| rest.split(" failed").next().unwrap_or(""));
    let names: [(&str, char); 5] = [
        ("in node (", ')'),
        ("Node (", ')'),
        ("node with name '", '\''),
        ("Name:'", '\''),
        ("Error in Node:", ' '),
    ];
    let node = names.iter().find_map(|(mark, end)| after(said, mark)?.split(*end).next());
    let reason = type_fault(said).unwrap_or_else(|| {
        let reason = after(said, "Status Message: ").or_else(|| after(said, " failed:")).unwrap_or(said);
        let reason = reason.trim_start_matches("This is an invalid model. ");
        one_line(if reason.is_empty() { code } else { reason })
    });
    Some(Rejection {
        runtime: "ONNX Runtime",
        file: file.to_owned(),
        node: node.unwrap_or("").to_owned(),
        reason,
        in_run: said.contains("while running") || code == "INVALID_ARGUMENT",
    })
}

/// Describes a type error of ONNX Runtime.
fn type_fault(said: &str) -> Option<String> {
    let plain = |ty: &str| ty.trim().trim_start_matches("tensor(").trim_end_matches(')').to_owned();
    let operator = |rest: &str| rest.split(')').next().unwrap_or("").to_owned();
    if let Some((_, types)) = said.split_once("bound to different types (") {
        let types = types.split(" in node").next()?;
        let (one, other) = types.split_once(" and ")?;
        let operator = operator(after(said, "of Optype (")?);
        return Some(format!("inputs of `{operator}` have the types {} and {}", plain(one), plain(other)));
    }
    let (ty, rest) = after(said, "Type '")?.split_once("' of input parameter (")?;
    let input = rest.split(')').next()?;
    let operator = operator(after(rest, "of operator (")?);
    Some(format!("`{operator}` does not support {} for its input `{input}`", plain(ty)))
}

/// Parses the message of TensorRT that starts at line `at`.
///
/// Example: `While parsing node number 73 [Add -> "y"]:`.
pub fn by_tensorrt(lines: &[&str], at: usize) -> Option<Rejection> {
    let rest = after(lines.get(at)?, "While parsing node number ")?;
    let operator = after(rest, "[").map_or("", |rest| first_word(rest).trim_end_matches(']'));
    let message = &lines[at + 1..lines.len().min(at + 1 + MAX_LINES)];
    let end = message.iter().position(|line| line.contains("While parsing node number "));
    let message = &message[..end.unwrap_or(message.len())];
    let invalid = message.iter().position(|line| line.contains("Invalid Node - "));
    let name = message.iter().find_map(|line| quoted(line.trim().strip_prefix("name: ")?));
    let name = name.or_else(|| after(message[invalid?], "Invalid Node - ").map(str::trim));
    let asserted = message.iter().find_map(|line| after(line, "Assertion failed: "));
    let error = message.iter().position(|line| line.contains("ERROR: "));
    let reason = asserted
        .or_else(|| message.get(invalid? + 1).copied())
        .or_else(|| message.get(error? + 1).copied())
        .unwrap_or("it cannot be parsed");
    let of = if operator.is_empty() { String::new() } else { format!("`{operator}`: ") };
    Some(Rejection {
        runtime: "TensorRT",
        file: String::new(),
        node: name.unwrap_or("").to_owned(),
        reason: format!("{of}{}", one_line(reason)),
        in_run: false,
    })
}

fn one_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or("").trim();
    line.chars().take(MAX_QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Option<Rejection>, expected: (&str, &str, &str)) {
        let Some(found) = found else { panic!("no rejection was found") };
        assert_eq!((&*found.file, &*found.node, &*found.reason), expected);
    }

    #[test]
    fn type_errors_of_onnx_runtime_name_the_node_and_the_types() {
        check(
            by_onnx_runtime(
                "[ONNXRuntimeError] : 1 : FAIL : Load model from enc16.onnx failed:Type Error: Type parameter (T) of \
                 Optype (Add) bound to different types (tensor(float16) and tensor(float) in node (Add_73).",
            ),
            ("enc16.onnx", "Add_73", "inputs of `Add` have the types float16 and float"),
        );
        check(
            by_onnx_runtime(
                "[ONNXRuntimeError] : 10 : INVALID_GRAPH : Load model from a.onnx failed:This is an invalid model. \
                 Type Error: Type 'tensor(int64)' of input parameter (X) of operator (Resize) in node (/up/Resize) is \
                 invalid.",
            ),
            ("a.onnx", "/up/Resize", "`Resize` does not support int64 for its input `X`"),
        );
    }

    #[test]
    fn other_errors_of_onnx_runtime_keep_their_reason() {
        check(
            by_onnx_runtime(
                "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for ArgMax(13) node with \
                 name '/ArgMax'",
            ),
            ("", "/ArgMax", "Could not find an implementation for ArgMax(13) node with name '/ArgMax'"),
        );
        let run = by_onnx_runtime(
            "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running Reshape node. \
             Name:'Reshape_5' Status Message: the input has 7 elements",
        );
        assert!(run.as_ref().is_some_and(|rejection| rejection.in_run));
        check(run, ("", "Reshape_5", "the input has 7 elements"));
    }

    #[test]
    fn errors_of_tensorrt_name_the_node_and_the_assertion() {
        let old = [
            "[E] [TRT] ModelImporter.cpp:726: While parsing node number 73 [Add -> \"y\"]:",
            "[E] [TRT] ModelImporter.cpp:727: --- Begin node ---",
            "[E] [TRT] ModelImporter.cpp:728: input: \"x\"",
            "name: \"Add_73\"",
            "op_type: \"Add\"",
            "[E] [TRT] ModelImporter.cpp:732: ERROR: ModelImporter.cpp:168 In function parseGraph:",
            "[6] Assertion failed: inputs have the same type",
        ];
        check(by_tensorrt(&old, 0), ("", "Add_73", "`Add`: inputs have the same type"));
        let new = [
            "[E] [TRT] ModelImporter.cpp:948: While parsing node number 4 [Range -> \"r\"]:",
            "[E] [TRT] ModelImporter.cpp:951: ERROR: ModelImporter.cpp:195 In function parseNode:",
            "[6] Invalid Node - /Range",
            "Dynamic inputs must be int32.",
        ];
        check(by_tensorrt(&new, 0), ("", "/Range", "`Range`: Dynamic inputs must be int32."));
        assert_eq!(by_tensorrt(&["no error"], 0), None);
    }
}
