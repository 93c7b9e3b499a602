//! SPC: requirements of the specification.

use onnx_lint::graph::Model;
use onnx_lint::lint::lint_model;
use onnx_lint::read;

use super::{by_code, check, check_graph};

const UNARY: &str = "(float[N] x) => (float[N] y)";

#[test]
fn cycles_are_reported_as_a_path() {
    check_graph(
        UNARY,
        "[a] p = Add (x, r)  [b] q = Relu (p)  [c] r = Neg (q)  [d] y = Abs (r)",
        &["SPC010 error: 3 nodes form a cycle: `a` → `b` → `c` → `a`"],
    );
    check_graph(UNARY, "[a] y = Add (x, y)", &["SPC010 error: `a` depends on its own output"]);
}

#[test]
fn nodes_out_of_topological_order_are_reported() {
    check_graph(
        UNARY,
        "[b] y = Relu (p)  [a] p = Neg (x)",
        &["SPC011 error: `b` is listed before `a`, which produces its input `p`"],
    );
    check_graph(UNARY, "[a] p = Neg (x)  [b] y = Relu (p)", &[]);
}

#[test]
fn undefined_and_duplicate_names_are_reported() {
    check_graph(UNARY, "[a] y = Add (x, bias)", &["SPC012 error: input `bias` of `a` is not defined"]);
    check_graph(UNARY, "[a] z = Neg (x)", &["SPC014 error: graph output `y` is not defined"]);
    check_graph(
        UNARY,
        "[a] p = Neg (x)  [b] p = Relu (x)  [c] y = Abs (p)",
        &["SPC013 error: two values of one graph are named `p`"],
    );
}

#[test]
fn shadowed_names_are_reported() {
    let arms = |inner: &str| {
        format!(
            "[i] y = If (c) <then_branch = t () => (float[N] {inner}) {{ {inner} = Neg (x) }},
                             else_branch = e () => (float[N] v) {{ v = Relu (x) }}>"
        )
    };
    let signature = "(float[N] x, bool c) => (float[N] y)";
    check_graph(signature, &arms("u"), &[]);
    check_graph(
        signature,
        &format!("u = Abs (x) {}", arms("u")),
        &["SPC015 error: `u` shadows a value of an outer graph"],
    );
}

#[test]
fn wrong_numbers_of_branch_inputs_and_outputs_are_reported() {
    check_graph(
        "(float[N] x, bool c) => (float[N] y)",
        "[i] y = If (c) <then_branch = t () => (float[N] u, float[N] w) { u = Neg (x) w = Abs (x) },
                         else_branch = e (float[N] z) => (float[N] v) { v = Relu (x) }>",
        &[
            "SPC033 error: `then_branch` of `i` has 2 outputs, but needs 1 output",
            "SPC033 error: `else_branch` of `i` has 1 input, but needs 0 inputs",
        ],
    );
}

#[test]
fn wrong_numbers_of_loop_states_are_reported() {
    let looped = |inputs: &str, outputs: &str| {
        format!(
            "[l] y = Loop (n, \"\", x) <body = b ({inputs}) => ({outputs}) {{ d = Identity (c)  w = Neg (v) }}>"
        )
    };
    let signature = "(float[N] x, int64 n) => (float[N] y)";
    check_graph(signature, &looped("int64 i, bool c, float[N] v", "bool d, float[N] w"), &[]);
    check_graph(
        signature,
        &looped("int64 i, bool c, float[N] v, float[N] e", "bool d, float[N] w"),
        &["SPC033 error: `body` of `l` has 4 inputs, but needs 3 inputs"],
    );
}

#[test]
fn missing_and_duplicate_opset_imports_are_reported() {
    check(
        r#"<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] x) => (float[N] y) { [a] p = my.own.Op (x)  [b] y = my.own.Op (p) }"#,
        &["SPC027 error: domain `my.own` is used, but not imported"],
    );
    check(
        r#"<ir_version: 8, opset_import: ["" : 17, "" : 13]>
        g (float[N] x) => (float[N] y) { [a] y = Neg (x) }"#,
        &["SPC028 error: domain `ai.onnx` is imported 2 times: 17, 13"],
    );
}

#[test]
fn imports_of_functions_need_no_version() {
    let (model, _) = read::text::read(
        r#"<ir_version: 10, opset_import: ["" : 20, "local" : 1]>
        g (float[N] x) => (float[N] y) { y = local.F (x) }
        <domain: "local", opset_import: ["" : 20]>
        F (a) => (b) { b = Relu (a) }"#,
    );
    let mut model = model.expect("a model");
    let missing = |model: &Model| {
        lint_model(model, &by_code()).iter().filter(|finding| &*finding.code == "SPC027").count()
    };
    model.opsets[1].version = None;
    assert_eq!(missing(&model), 0);
    // Without the function, the call is an operator.
    model.functions.clear();
    assert_eq!(missing(&model), 1);
}

#[test]
fn recursive_and_duplicate_functions_are_reported() {
    let function = |name: &str, callee: &str| {
        format!(
            "<domain: \"f\", opset_import: [\"f\" : 1, \"\" : 17]> {name} (x) => (y) {{ y = {callee} (x) }}\n"
        )
    };
    let main = r#"<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[N] x) => (float[N] y) { [a] y = f.A (x) }
        "#;
    check(&format!("{main}{}{}", function("A", "f.B"), function("B", "Neg")), &[]);
    check(
        &format!("{main}{}{}", function("A", "f.B"), function("B", "f.A")),
        &["SPC029 error: function `f.A` calls itself: `f.A` → `f.B` → `f.A`"],
    );
    check(
        &format!("{main}{}{}", function("A", "Neg"), function("A", "Abs")),
        &["SPC030 error: 2 functions are named `f.A`, with the same overload"],
    );
}

#[test]
fn invalid_attribute_references_are_reported() {
    check_graph(
        UNARY,
        "[a] y = LeakyRelu <alpha: float = @slope> (x)",
        &["SPC021 error: `alpha` of `a` refers to function attribute `slope`, but is not in a function"],
    );
    let main = r#"<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[N] x) => (float[N] y) { [a] y = f.A <slope = 0.5> (x) }
        <domain: "f", opset_import: ["" : 17]> A "#;
    check(&format!("{main} <slope> (x) => (y) {{ [l] y = LeakyRelu <alpha: float = @slope> (x) }}"), &[]);
    check(
        &format!("{main} <slope> (x) => (y) {{ [l] y = LeakyRelu <alpha: float = @slop> (x) }}"),
        &[
            "SPC021 error: `alpha` of `l` refers to attribute `slop`, but function `f.A` has no such attribute",
        ],
    );
}

#[test]
fn missing_types_of_inputs_and_outputs_are_reported() {
    check_graph(
        "(x) => (float[N] y)",
        "[a] y = Neg (x)",
        &["SPC035 error: input `x` has no type, but the specification requires one"],
    );
}
