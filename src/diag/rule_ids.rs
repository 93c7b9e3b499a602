//! Ids of built-in analyses, each with a page in `rules/lint/`: one constant for each, and [`ALL`].
//!
//! A test in `rules::registry` compares the table with the pages.

// Without the feature `tools` or `evidence`, fewer analyses are compiled in.
#![cfg_attr(not(feature = "tools"), allow(dead_code))]

use super::finding::Level;
use super::rule::RuleId;

/// Defines a constant for each row, named after the rule, and the list `ALL`.
macro_rules! rule_ids {
    ($($constant:ident $code:literal $name:literal $level:ident)*) => {
        $(pub(crate) const $constant: RuleId = RuleId { code: $code, name: $name, level: Level::$level };)*

        /// All built-in analyses, by code.
        pub(crate) const ALL: &[RuleId] = &[$($constant),*];
    };
}

rule_ids! {
    REMOVED_ARGUMENT "CAL001" "removed-argument" Error
    ARGUMENT_OF_OTHER_EXPORTER "CAL002" "argument-of-other-exporter" Warning
    ARGUMENT_TYPE "CAL003" "argument-type" Error
    UNSUPPORTED_OPSET "CAL004" "unsupported-opset" Error
    NOT_A_MODULE "CAL005" "not-a-module" Error
    UNSUPPORTED_WRAPPER "CAL006" "unsupported-wrapper" Error
    AUTOCAST_EXPORT "CAL007" "autocast-export" Error
    FLOAT64_MODEL "CAL008" "float64-model" Error
    WEIGHTS_LEFT_OUT "CAL009" "weights-left-out" Error
    OVERWRITTEN_FILE "CAL010" "overwritten-file" Warning
    STATIC_EXPORT "CAL011" "static-export" Hint
    EXAMPLE_SIZE_ONE "CAL012" "example-size-one" Error
    DIM_RANGE "CAL013" "dim-range" Error
    UNKNOWN_AXIS_NAME "CAL014" "unknown-axis-name" Error
    AXIS_OUT_OF_RANGE "CAL015" "axis-out-of-range" Error
    AXIS_ORDER "CAL016" "axis-order" Error
    NAME_COUNT "CAL017" "name-count" Error
    EXAMPLE_TYPE "CAL018" "example-type" Error
    CONSTANT_INPUT "CAL019" "constant-input" Warning
    UNUSED_INPUT "CAL020" "unused-input" Warning
    OUTPUT_ORDER "CAL021" "output-order" Warning
    INPUT_ORDER "CAL022" "input-order" Warning
    UNKNOWN_ATTRIBUTE "CAL050" "unknown-attribute" Error
    DEVICE_MISMATCH "CAL051" "device-mismatch" Error
    FORWARD_ARGUMENTS "CAL052" "forward-arguments" Error
    UNSUPPORTED_OPERATOR "CAL053" "unsupported-operator" Error
    ADAPTED_FORM "CVT000" "adapted-form" Info
    INLINED_FUNCTION "CVT002" "inlined-function" Info
    RELABELLED_VERSION "CVT004" "relabelled-version" Info
    MOVED_CONSTANT "CVT005" "moved-constant" Info
    DTYPE_MISMATCH "DTY001" "dtype-mismatch" Error
    FLOAT64_PROMOTION "DTY002" "float64-promotion" Warning
    CONSTANT_OVERFLOW "DTY003" "constant-overflow" Warning
    INT64_NARROWING "DTY004" "int64-narrowing" Hint
    LOSSY_CAST_CHAIN "DTY005" "lossy-cast-chain" Hint
    BAKED_SHAPE "EXP001" "baked-shape" Error
    ITEM_BAKED "EXP002" "item-baked" Warning
    IN_PLACE_SHAPE_ALIAS "EXP003" "in-place-shape-alias" Error
    IN_PLACE_VIEW_LOST "EXP004" "in-place-view-lost" Error
    NUMPY_CONSTANT "EXP005" "numpy-constant" Warning
    TRACED_BRANCH "EXP006" "traced-branch" Warning
    UNROLLED_LOOP "EXP007" "unrolled-loop" Warning
    DROPPED_INPUT "EXP008" "dropped-input" Warning
    CONSTANT_OUTPUT "EXP009" "constant-output" Warning
    TRAINING_MODE "EXP010" "training-mode" Error
    DICT_OUTPUT "EXP011" "dict-output" Info
    TENSOR_DATA "EXP012" "tensor-data" Warning
    ONE_HOT_DEPTH "EXP013" "one-hot-depth" Error
    LOST_SYMBOL "EXP014" "lost-symbol" Info
    INPUT_NAMED_WEIGHTS "EXP015" "input-named-weights" Info
    EXPORT_FAILED "EXP016" "export-failed" Error
    INPUT_WRITTEN "EXP017" "input-written" Warning
    STATIC_AXIS "EXP018" "static-axis" Error
    GRU_RESET_GATE "EXP019" "gru-reset-gate" Warning
    BAD_REQUEST "FIX001" "bad-request" Error
    INTERNAL_FAULT "FIX002" "internal-fault" Error
    REQUESTED_SHAPE "FIX003" "requested-shape" Info
    DECLARED_TYPE "FIX004" "declared-type" Info
    NARROWED_NUMBERS "FIX005" "narrowed-numbers" Info
    DYNAMIC_AXIS "FIX006" "dynamic-axis" Info
    INSERTED_CAST "FIX060" "inserted-cast" Info
    CONVERTED_NODE "FIX061" "converted-node" Info
    NEGATIVE_INDEX "IDX001" "negative-index" Error
    INDEX_PUT_RANK "IDX002" "index-put-rank" Warning
    INDEX_PUT_NON_CONSECUTIVE "IDX003" "index-put-non-consecutive" Warning
    INDEX_PUT_BROADCAST "IDX004" "index-put-broadcast" Error
    BOOLEAN_MASK "IDX005" "boolean-mask" Info
    INDEX_OUT_OF_RANGE "IDX006" "index-out-of-range" Error
    LOST_DUPLICATES "IDX007" "lost-duplicates" Warning
    INTERNAL_ERROR "INT001" "internal-error" Error
    NAN_IN_WEIGHTS "NUM001" "nan-in-weights" Warning
    DIVISION_BY_CONSTANT_ZERO "NUM002" "division-by-constant-zero" Warning
    LOG_OR_SQRT_OF_NEGATIVE_CONSTANT "NUM003" "log-or-sqrt-of-negative-constant" Warning
    EPSILON_UNDERFLOW "NUM004" "epsilon-underflow" Warning
    UNSUPPORTED_OP "OPS001" "unsupported-op" Error
    UNKNOWN_DOMAIN "OPS002" "unknown-domain" Warning
    PYTHON_OP "OPS003" "python-op" Error
    ATEN_FALLBACK "OPS004" "aten-fallback" Error
    TARGET_UNSUPPORTED "OPS005" "target-unsupported" Error
    DEAD_NODE "OPT001" "dead-node" Hint
    UNUSED_INITIALIZER "OPT002" "unused-initializer" Hint
    EQUAL_INITIALIZERS "OPT003" "equal-initializers" Hint
    DECIDED_BRANCH "OPT004" "decided-branch" Hint
    CONSTANT_RESULT "OPT005" "constant-result" Info
    REPEATED_NODE "OPT006" "repeated-node" Info
    UNUSED_OUTPUT "OPT007" "unused-output" Info
    LIFTED_CONSTANT "OPT008" "lifted-constant" Info
    REPEATED_WEIGHT "OPT009" "repeated-weight" Info
    UNUSED_FUNCTION "OPT026" "unused-function" Info
    OP_NEWER_THAN_OPSET "OPV001" "op-newer-than-opset" Error
    OP_REMOVED "OPV002" "op-removed" Error
    ATTRIBUTE_NOT_IN_VERSION "OPV003" "attribute-not-in-version" Error
    TYPE_NOT_IN_VERSION "OPV004" "type-not-in-version" Error
    IR_VERSION_MISMATCH "OPV005" "ir-version-mismatch" Warning
    NOT_CONVERTIBLE "OPV006" "not-convertible" Error
    RESIZE_SEMANTICS_CHANGED "OPV007" "resize-semantics-changed" Error
    NEGATIVE_INDEX_IN_VERSION "OPV008" "negative-index-in-version" Warning
    FUNCTION_OPSET "OPV009" "function-opset" Error
    SCALE_NOT_POSITIVE "QDQ001" "scale-not-positive" Error
    PER_CHANNEL_SIZE "QDQ002" "per-channel-size" Error
    DOUBLE_QUANTIZATION "QDQ003" "double-quantization" Hint
    UNREADABLE_PART "REA001" "unreadable-part" Warning
    BAD_RULE "RUL001" "bad-rule" Error
    BAD_TARGET "RUL002" "bad-target" Error
    SHAPE_MISMATCH "SHP001" "shape-mismatch" Error
    DECLARED_SHAPE_WRONG "SHP002" "declared-shape-wrong" Warning
    STATIC_BATCH "SHP003" "static-batch" Hint
    BRANCH_RANK_DIFFERS "SHP004" "branch-rank-differs" Warning
    UNREADABLE_MODEL "SPC001" "unreadable-model" Error
    UNKNOWN_FIELDS "SPC002" "unknown-fields" Info
    BAD_ONNX_TEXT "SPC003" "bad-onnx-text" Error
    CYCLE "SPC010" "cycle" Error
    UNSORTED_NODES "SPC011" "unsorted-nodes" Error
    UNDEFINED_VALUE "SPC012" "undefined-value" Error
    DUPLICATE_VALUE "SPC013" "duplicate-value" Error
    UNDEFINED_OUTPUT "SPC014" "undefined-output" Error
    SHADOWED_VALUE "SPC015" "shadowed-value" Error
    MISSING_INPUT "SPC016" "missing-input" Error
    WRONG_ARITY "SPC017" "wrong-arity" Error
    MISSING_ATTRIBUTE "SPC018" "missing-attribute" Error
    BAD_ATTRIBUTE "SPC019" "bad-attribute" Error
    DUPLICATE_ATTRIBUTE "SPC020" "duplicate-attribute" Error
    UNBOUND_ATTRIBUTE_REFERENCE "SPC021" "unbound-attribute-reference" Error
    BAD_TENSOR_DATA "SPC022" "bad-tensor-data" Error
    DUPLICATE_INITIALIZER "SPC023" "duplicate-initializer" Warning
    EXTERNAL_DATA_MISSING "SPC024" "external-data-missing" Error
    EXTERNAL_DATA_OUT_OF_RANGE "SPC025" "external-data-out-of-range" Error
    EXTERNAL_DATA_ESCAPES_FOLDER "SPC026" "external-data-escapes-folder" Error
    MISSING_OPSET_IMPORT "SPC027" "missing-opset-import" Error
    DUPLICATE_OPSET_IMPORT "SPC028" "duplicate-opset-import" Error
    RECURSIVE_FUNCTION "SPC029" "recursive-function" Error
    DUPLICATE_FUNCTION "SPC030" "duplicate-function" Error
    BAD_NAME "SPC031" "bad-name" Error
    DUPLICATE_NODE_NAME "SPC032" "duplicate-node-name" Error
    BODY_SIGNATURE "SPC033" "body-signature" Error
    MISSING_IR_VERSION "SPC034" "missing-ir-version" Error
    BAD_TYPE "SPC035" "bad-type" Error
    BAD_VALUE "SPC036" "bad-value" Error
    INITIALIZER_NOT_INPUT "SPC037" "initializer-not-input" Warning
    DEFAULT_OF_ANOTHER_TYPE "SPC038" "default-of-another-type" Error
    UNUSED_SUPPRESSION "SUP001" "unused-suppression" Info
    UNKNOWN_SUPPRESSED_RULE "SUP002" "unknown-suppressed-rule" Warning
    MALFORMED_SUPPRESSION "SUP003" "malformed-suppression" Warning
    RESULTS_DIFFER "VER001" "results-differ" Error
    RESULTS_COMPARED "VER002" "results-compared" Info
}
