//! The analyses that are code: what `detect builtin::NAME` may name. Their pages say which there are.

use crate::diag::known;

/// Whether there is an analysis of this name.
pub fn is_known(name: &str) -> bool {
    known::ALL.iter().any(|rule| rule.is_builtin(name))
}

/// The names of all analyses.
pub fn names() -> impl Iterator<Item = String> {
    known::ALL.iter().map(|rule| rule.name.replace('-', "_"))
}

/// Whether no ONNX text can show what an analysis finds: in Python, TorchScript, `.pt2` and logs, in files,
/// and in what ONNX text cannot say of a model.
pub fn is_without_example(name: &str) -> bool {
    WITHOUT_EXAMPLE.contains(&name)
}

/// Sorted.
const WITHOUT_EXAMPLE: &[&str] = &[
    "adapted_form",
    "bad_name",
    "bad_onnx_text",
    "bad_request",
    "bad_rule",
    "bad_target",
    "bad_tensor_data",
    "bad_type",
    "constant_result",
    "declared_type",
    "dict_output",
    "dynamic_axis",
    "equal_initializers",
    "export_failed",
    "external_data_missing",
    "external_data_out_of_range",
    "in_place_view_lost",
    "index_put_broadcast",
    "index_put_non_consecutive",
    "index_put_rank",
    "inlined_function",
    "input_written",
    "internal_error",
    "internal_fault",
    "item_baked",
    "moved_constant",
    "not_convertible",
    "numpy_constant",
    "relabelled_version",
    "repeated_node",
    "requested_shape",
    "results_compared",
    "results_differ",
    "static_axis",
    "target_unsupported",
    "tensor_data",
    "traced_branch",
    "unknown_fields",
    "unreadable_model",
    "unreadable_part",
    "lifted_constant",
    "narrowed_numbers",
    "repeated_weight",
    "unused_output",
];
