//! Repairs that rules cannot express: casts, nodes of another opset, subgraphs and functions.

use onnx_lint::fix::precision::Precision;
use onnx_lint::fix::{Options, fix};
use onnx_lint::graph::{ElemType, Model, scopes};
use onnx_lint::lint::{LintOptions, lint_model};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::write::text::write;

fn model(opset: i64, graph: &str) -> Model {
    let text = match graph.starts_with('<') {
        true => graph.to_owned(),
        false => format!("<ir_version: 8, opset_import: [\"\" : {opset}]> {graph}"),
    };
    let (model, findings) = read::text::read(&text);
    assert!(findings.is_empty(), "{findings:?}");
    model.expect("a model")
}

/// Returns the errors of a model, each with its code.
fn errors(model: &Model) -> Vec<String> {
    let findings = lint_model(model, &LintOptions::default());
    let errors = findings.iter().filter(|finding| finding.level == onnx_lint::diag::Level::Error);
    errors.map(|finding| format!("{} {}", finding.code, finding.message)).collect()
}

/// Returns the repaired model.
#[track_caller]
fn repaired(opset: i64, graph: &str) -> Model {
    let options = Options { optimize: false, ..Options::default() };
    let outcome = fix(model(opset, graph), &options, &RuleSet::patterns());
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    outcome.model
}

/// Asserts the operators of the repaired model, subgraphs last, each with its output type.
#[track_caller]
fn check(opset: i64, graph: &str, expected: &[&str]) {
    assert!(!errors(&model(opset, graph)).is_empty(), "the original has a fault");
    let fixed = repaired(opset, graph);
    let facts = onnx_lint::infer::infer(&fixed, onnx_lint::infer::Options::default());
    let mut live = scopes::live(&fixed);
    live.sort_unstable();
    let nodes = live.iter().flat_map(|&graph| &fixed.graphs[graph].nodes).map(|&node| &fixed.nodes[node]);
    let shown = nodes.map(|node| {
        let elem = node.output(0).and_then(|output| facts[output].inner_elem());
        format!("{} {}", node.op_type, elem.map_or("?", ElemType::name))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{}", write(&fixed));
    assert_eq!(errors(&fixed), Vec::<String>::new(), "{}", write(&fixed));
}

/// Asserts that a fault is reported as not fixable, and stays.
#[track_caller]
fn check_refused(opset: i64, graph: &str, code: &str) {
    let before = model(opset, graph);
    let findings = lint_model(&before, &LintOptions::default());
    let found = findings.iter().find(|finding| *finding.code == *code).expect("a finding");
    assert_eq!(found.fix, None, "{}", found.message);
    assert!(errors(&repaired(opset, graph)).iter().any(|error| error.starts_with(code)));
}

#[test]
fn operands_are_promoted_as_in_pytorch() {
    check(
        17,
        "g (float16[N] a, float[N] b) => (float[N] y) { y = Add (a, b) }",
        &["Cast float", "Add float"],
    );
    check(
        17,
        "g (int64[N] a, float16[N] b) => (float16[N] y) { y = Div (a, b) }",
        &["Cast float16", "Div float16"],
    );
    check(
        17,
        "g (float[N,2] a, double[N,2] b, float16[N,2] c) => (double[N,6] y) { y = Concat <axis = 1> (a, b, c) }",
        &["Cast double", "Cast double", "Concat double"],
    );
    check(
        17,
        "g (bool[N] c, int32[N] a, float[N] b) => (float[N] y) { y = Where (c, a, b) }",
        &["Cast float", "Where float"],
    );
}

#[test]
fn constants_and_updates_take_the_type_of_the_data() {
    check(
        17,
        "g (float16[N] x) => (float16[N] y) <float half = {0.5}> { y = Max (x, half) }",
        &["Cast float16", "Max float16"],
    );
    check(
        17,
        "g (float[N] x) => (float[N] y) <int64 low = {0}> { y = Clip (x, low) }",
        &["Cast float", "Clip float"],
    );
    check(
        17,
        "g (float16[4] x, int64[K,1] i, float[K] u) => (float16[4] y) { y = ScatterND (x, i, u) }",
        &["Cast float16", "ScatterND float16"],
    );
    let weights = "float16[N,3,2] x) => (float16[N,3,2] y) <float[3] s = {1, 2, 3}, float[3] b = {0, 0, 0}>";
    check(
        17,
        &format!("g ({weights} {{ y = InstanceNormalization (x, s, b) }}"),
        &["Cast float16", "Cast float16", "InstanceNormalization float16"],
    );
}

#[test]
fn constants_that_overflow_widen_the_data() {
    check(
        17,
        "g (float16[N] x) => (float[N] y) <float mask = {-1e9}> { y = Add (x, mask) }",
        &["Cast float", "Add float"],
    );
    check(
        17,
        "g (int32[N] x) => (int64[N] y) <int64 most = {9223372036854775807}> { y = Min (x, most) }",
        &["Cast int64", "Min int64"],
    );
}

#[test]
fn indices_and_sizes_become_int64() {
    check(
        17,
        "g (float[N,4] x, int32[2] s) => (float[2,A] y) { y = Reshape (x, s) }",
        &["Cast int64", "Reshape float"],
    );
    check(
        17,
        "g (float[N,4] x, float[K] i) => (float[N,K] y) { y = Gather <axis = 1> (x, i) }",
        &["Cast int64", "Gather float"],
    );
    let slice = "<int32[1] a = {0}, int64[1] b = {2}, int64[1] c = {1}> { y = Slice (x, a, b, c) }";
    check(17, &format!("g (float[N,4] x) => (float[N,2] y) {slice}"), &["Cast int64", "Slice float"]);
}

#[test]
fn truth_values_are_compared_with_zero() {
    let graph = "g (float[N] x, bool[N] c) => (bool[N] y) { y = And (x, c) }";
    check(17, graph, &["Cast bool", "And bool"]);
    let findings = lint_model(&model(17, graph), &LintOptions::default());
    let helps: Vec<&str> = findings.iter().filter_map(|finding| finding.help.as_deref()).collect();
    let compare = "compare `x` with 0 before this node; in PyTorch, use `!= 0`";
    assert!(helps.iter().all(|help| *help == compare) && !helps.is_empty(), "{helps:?}");
}

#[test]
fn unsupported_types_are_widened_and_converted_back() {
    check(17, "g (int64[N] x) => (float[N] y) { y = Sqrt (x) }", &["Cast float", "Sqrt float"]);
    check(
        13,
        "g (int8[1,2,N] x) => (int8[1,2,1] y) { y = GlobalMaxPool (x) }",
        &["Cast float", "GlobalMaxPool float", "Cast int8"],
    );
    check(
        17,
        "g (bool[N] x, bool[N] z) => (bool[N] y) { y = Add (x, z) }",
        &["Cast int64", "Cast int64", "Add int64", "Cast bool"],
    );
}

#[test]
fn narrowing_without_a_reason_is_refused() {
    check_refused(18, "g (float[N] x, int32[N] z) => (y) { y = BitwiseOr (x, z) }", "DTY001");
    check_refused(17, "g (float[N] x, int64[N] z) => (y) { y = Mod (x, z) }", "DTY001");
}

#[test]
fn nodes_of_another_opset_are_converted() {
    check(
        18,
        "g (float[N,4] x) => (float[N,1] y) { y = ReduceMean <axes = [-1]> (x) }",
        &["Constant int64", "ReduceMean float"],
    );
    check(
        11,
        "g (float[N,4] x) => (float[N,1,4] y) <int64[1] a = {1}> { y = Unsqueeze (x, a) }",
        &["Unsqueeze float"],
    );
    check(
        11,
        "g (int64[N] x, int64[N] z) => (int64[N] y) { y = Max (x, z) }",
        &["Greater bool", "Where int64"],
    );
    let message = "SPC018 `Slice` is written as since opset 10: at opset 9, it needs the attribute `ends`";
    let slice = "g (float[N,4] x, int64[1] s, int64[1] e) => (y) { y = Slice (x, s, e) }";
    assert_eq!(errors(&model(9, slice)), [message]);
}

#[test]
fn subgraphs_define_their_outputs() {
    let branches =
        "then_branch = t () => (float[N] a) { }, else_branch = e () => (float[N] b) { b = Neg (a) }";
    check(
        15,
        &format!("g (float[N] x, bool c) => (float[N] y) {{ a = Relu (x)  y = If (c) <{branches}> }}"),
        &["Relu float", "If float", "Identity float", "Neg float"],
    );
}

#[test]
fn branches_and_loop_states_get_one_type() {
    let branches = "then_branch = t () => (float[N] p) { p = Relu (x) },
        else_branch = e () => (double[N] q) { q = Cast <to = 11> (x) }";
    check(
        17,
        &format!("g (float[N] x, bool c) => (double[N] y) {{ y = If (c) <{branches}> }}"),
        &["If double", "Relu float", "Cast double", "Cast double"],
    );
    let body = "body = b (int64 i, bool k, float[N] s) => (bool k1, float[N] s1) {
        k1 = Identity (k)  w = Constant <value = float {0.5}> ()  s1 = Mul (s, w)
    }";
    check(
        15,
        &format!("g (float16[N] x, int64 n, bool t) => (float16[N] y) {{ y = Loop (n, t, x) <{body}> }}"),
        &["Loop float16", "Identity bool", "Constant float", "Cast float16", "Mul float16"],
    );
}

#[test]
fn functions_are_converted_to_the_opset_of_the_model() {
    let text = "<ir_version: 9, opset_import: [\"\" : 21, \"local\" : 1]>
        g (float[N,4] x) => (float[1,1] y) { y = local.F (x) }
        <domain: \"local\", opset_import: [\"\" : 17]>
        F (a) => (b) { b = ReduceMax <axes = [0, 1]> (a) }";
    check(21, text, &["F float", "Constant int64", "ReduceMax float"]);
    let fixed = repaired(21, text);
    assert_eq!(fixed.opset(fixed.functions[0].body, ""), Some(21));
}

#[test]
fn wrong_declared_element_types_are_errors() {
    let before = model(17, "g (float[N] x) => (double[N] y) { y = Relu (x) }");
    assert_eq!(errors(&before), ["SHP002 `y` is declared as double[N], but is float[N]"]);
    // The type of a mixed node is unknown until it is fixed.
    let mixed = model(17, "g (float16[N] x, float[N] z) => (float[N] y) { y = Add (x, z) }");
    assert!(errors(&mixed).iter().all(|error| error.starts_with("DTY001")), "{:?}", errors(&mixed));
}

/// ONNX Runtime rejects wrong shapes of the subgraph's inputs for `Scan`, and ignores them for `Loop`.
#[test]
fn wrong_declared_shapes_of_scan_inputs_are_errors() {
    let scan = |state: &str, element: &str| {
        format!(
            "g (float[2] s, float[N,2] x) => (float[2] y) {{ y = Scan <num_scan_inputs = 1, body = \
             b (float[{state}] a, float[{element}] c) => (float[2] d) {{ d = Add (a, c) }}> (s, x) }}"
        )
    };
    let errors_in = |graph: &str| errors(&model(17, graph));
    assert_eq!(errors_in(&scan("2", "2")), [""; 0]);
    assert_eq!(errors_in(&scan("2", "3")), ["SHP002 `c` is declared as float[3], but receives float[2]"]);
    assert_eq!(errors_in(&scan("3", "2")), ["SHP002 `a` is declared as float[3], but receives float[2]"]);
    let outcome = fix(model(17, &scan("2", "3")), &Options::default(), &RuleSet::patterns());
    assert!(write(&outcome.model).contains("float[2] c"), "{}", write(&outcome.model));
    let carried = "g (float[2] s, int64 n) => (float[2] y) { y = Loop <body = \
                   b (int64 i, bool k, float[3] a) => (bool l, float[2] d) { l = Identity (k)  d = Neg (a) }> (n, , s) }";
    assert_eq!(errors_in(carried), [""; 0]);
}

#[test]
fn constant_parameters_take_the_type_of_the_data() {
    let graph = "g (float[N,2,3] x) => (float[N,2,3] y) <float[2] s = {1, 1}, float[2] b = {0, 0}, \
                 double[2] m = {1, 2}, float[2] v = {1, 1}> { y = BatchNormalization (x, s, b, m, v) }";
    check(17, graph, &["Cast float", "BatchNormalization float"]);
}

#[test]
fn attention_of_a_later_opset_is_decomposed() {
    let graph = "g (float[2,8,64] q, float[2,8,64] k, float[2,8,64] v) => (float[2,8,64] y) {
        y = Attention <q_num_heads = 4, kv_num_heads = 4> (q, k, v) }";
    let fixed = repaired(22, graph);
    assert_eq!(errors(&fixed), [""; 0]);
    assert!(!write(&fixed).contains("com.microsoft"), "{}", write(&fixed));
}

#[test]
fn constants_of_functions_stay_in_them() {
    let text = "<ir_version: 8, opset_import: [\"\" : 12, \"l\" : 1]>
        g (float[2] x) => (float[2] y) { y = l.f (x) }
        <domain: \"l\", opset_import: [\"\" : 15]>
        f (a) => (b) { c = Constant <value = bfloat16[2] {1, 2}> ()  d = Cast <to = 1> (c)  b = Add (a, d) }";
    assert_eq!(errors(&repaired(12, text)), [""; 0]);
}

#[track_caller]
fn converted(opset: i64, graph: &str, to: ElemType, expected: Result<&str, &str>) {
    let precision = Some(Precision { to, keep_io: false, measure: None });
    let options = Options { precision, ..Options::default() };
    let outcome = fix(model(opset, graph), &options, &RuleSet::patterns());
    let found = match outcome.findings.first() {
        Some(finding) => Err(finding.message.clone()),
        None => Ok(write(&outcome.model)),
    };
    match (found, expected) {
        (Ok(text), Ok(part)) => assert!(text.contains(part), "{text}"),
        (found, expected) => assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned)),
    }
}

#[test]
fn sixteen_bit_types_are_converted_into_each_other_or_refused() {
    let half = "g (float16[N] x) => (float16[N] y) { y = Relu (x) }";
    converted(17, half, ElemType::Float16, Ok("float16[N] y"));
    let brain =
        "g (bfloat16[N] x) => (bfloat16[N] y) <bfloat16 w = {16256}> { t = Relu (x)  y = Mul (t, w) }";
    converted(17, brain, ElemType::Float16, Ok("float16[N] x"));
    let float = "g (float[N] x, bool c) => (float[N] y) { y = Relu (x) }";
    let why = "the conversion to bfloat16 requires opset 13, but the model imports opset 11";
    converted(11, float, ElemType::Bfloat16, Err(why));
    let branches = "then_branch = t () => (float[N] p) { p = Relu (x) }, else_branch = e () => (float[N] q) { q = Neg (x) }";
    let control = format!("g (float[N] x, bool c) => (float[N] y) {{ y = If (c) <{branches}> }}");
    let why = "`If` does not support bfloat16 before opset 16, but the model imports opset 15";
    converted(15, &control, ElemType::Bfloat16, Err(why));
}

#[test]
fn conversions_prefer_operators_with_kernels() {
    let options = Options { opset: Some(13), ..Options::default() };
    let masks = model(14, "g (bool[N,N] x) => (bool[N,N] y) { y = Trilu <upper = 0> (x) }");
    let outcome = fix(masks, &options, &RuleSet::patterns());
    assert!(outcome.findings.is_empty() && outcome.model.nodes.iter().all(|(_, node)| !node.is("Where")));
}
