//! Built-in analyses, which rule files name by `detect builtin::NAME`.
//! Each analysis has a page in `rules/lint`; `diag::rule_ids` lists all analyses.

use crate::diag::rule_ids;

/// Returns true if there is an analysis of this name.
pub fn is_known(name: &str) -> bool {
    rule_ids::ALL.iter().any(|rule| rule.is_builtin(name))
}

/// Returns the names of all analyses.
pub fn names() -> impl Iterator<Item = String> {
    rule_ids::ALL.iter().map(|rule| rule.name.replace('-', "_"))
}

/// Returns true if ONNX text cannot express an example for this analysis.
/// Analyses without an example inspect other formats or the encoding of a file, or describe changes by
/// onnx-fix.
pub fn is_without_example(name: &str) -> bool {
    WITHOUT_EXAMPLE.contains(&name)
}

/// Analyses without an ONNX text example.
const WITHOUT_EXAMPLE: &[&str] = &[
    "adapted_form",
    "argument_of_other_exporter",
    "argument_type",
    "autocast_export",
    "axis_order",
    "axis_out_of_range",
    "bad_name",
    "bad_onnx_text",
    "bad_request",
    "bad_rule",
    "bad_target",
    "bad_tensor_data",
    "bad_type",
    "constant_input",
    "constant_result",
    "converted_node",
    "declared_type",
    "device_mismatch",
    "dict_output",
    "dim_range",
    "dynamic_axis",
    "equal_initializers",
    "example_size_one",
    "example_type",
    "export_failed",
    "external_data_missing",
    "external_data_out_of_range",
    "float64_model",
    "forward_arguments",
    "in_place_view_lost",
    "index_put_broadcast",
    "index_put_non_consecutive",
    "index_put_rank",
    "inlined_function",
    "input_order",
    "input_written",
    "inserted_cast",
    "internal_error",
    "internal_fault",
    "item_baked",
    "lifted_constant",
    "malformed_suppression",
    "moved_constant",
    "name_count",
    "narrowed_numbers",
    "not_a_module",
    "not_convertible",
    "numpy_constant",
    "output_order",
    "overwritten_file",
    "relabelled_version",
    "removed_argument",
    "repeated_node",
    "repeated_weight",
    "requested_shape",
    "results_compared",
    "results_differ",
    "static_axis",
    "static_export",
    "target_unsupported",
    "tensor_data",
    "traced_branch",
    "unknown_attribute",
    "unknown_axis_name",
    "unknown_fields",
    "unknown_suppressed_rule",
    "unreadable_model",
    "unreadable_part",
    "unsupported_opset",
    "unsupported_wrapper",
    "unused_function",
    "unused_input",
    "unused_output",
    "unsupported_operator",
    "unused_suppression",
    "weights_left_out",
];
