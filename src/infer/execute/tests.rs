use super::*;
use crate::read;

/// Runs a graph of constant nodes, and asserts the shape and elements of its first output.
#[track_caller]
fn check(opset: i64, graph: &str, shape: &[usize], expected: &[f64]) {
    let (model, findings) =
        read::text::read(&format!("<ir_version: 10, opset_import: [\"\" : {opset}]> {graph}"));
    assert!(findings.is_empty(), "{findings:?}");
    let model = model.expect("a model");
    let mut executor = Executor::new(&model, Limits { bytes: 1 << 16, work: 1 << 20 });
    for &node in &model.graphs[model.main].nodes {
        assert!(executor.is_ready(node));
        executor.run(node).expect("it runs");
    }
    let output = model.graphs[model.main].outputs[0].value;
    let Some(Val::Tensor(array)) = executor.value(output) else { panic!("no tensor") };
    assert_eq!((array.shape(), array.f64s().expect("numbers")), (shape, expected.to_vec()));
}

#[test]
fn if_runs_the_selected_branch() {
    let graph = |c: &str| {
        format!(
            "g () => (float y) {{
                c = Constant <value = bool {{ {c} }}> ()
                x = Constant <value_float = 2.0> ()
                y = If (c) <then_branch = a () => (float p) {{ p = Neg (x) }}, else_branch = b () => (float q) {{ q = Sqrt (x) }}>
            }}"
        )
    };
    check(21, &graph("1"), &[], &[-2.0]);
}

#[test]
fn loop_carries_state_and_stacks_scan_outputs() {
    check(
        21,
        "g () => (float[n] y, float s) {
            m = Constant <value = int64 { 3 }> ()
            one = Constant <value_float = 1.0> ()
            s, y = Loop (m, , one) <body = b (int64 i, bool c, float t) => (c, float u, float v) {
                u = Add (t, t)
                v = Add (u, one)
            }>
        }",
        &[3],
        &[3.0, 5.0, 9.0],
    );
}

#[test]
fn scan_slices_inputs_in_either_direction() {
    let scan = |attrs: &str| {
        format!(
            "g () => (float[n] y, float s) {{
                zero = Constant <value_float = 0.0> ()
                x = Constant <value_floats = [1.0, 2.0, 3.0]> ()
                s, y = Scan <num_scan_inputs = 1, {attrs}
                    body = b (float t, float e) => (float u, float v) {{ u = Add (t, e) v = Identity (u) }}> (zero, x)
            }}"
        )
    };
    check(21, &scan(""), &[3], &[1.0, 3.0, 6.0]);
    check(21, &scan("scan_input_directions = [1],"), &[3], &[3.0, 5.0, 6.0]);
}

#[test]
fn sequence_map_runs_its_subgraph_for_each_element() {
    check(
        21,
        "g () => (float[n] y) {
            a = Constant <value_floats = [1.0, 2.0]> ()
            b = Constant <value_floats = [3.0]> ()
            s = SequenceConstruct (a, b)
            t = SequenceMap (s) <body = f (float[n] e) => (float[n] r) { r = Neg (e) }>
            y = ConcatFromSequence <axis = 0> (t)
        }",
        &[3],
        &[-1.0, -2.0, -3.0],
    );
}

#[test]
fn function_attributes_come_from_the_call_or_default() {
    let (model, findings) = read::text::read(
        "<ir_version: 10, opset_import: [\"\" : 21, \"f\" : 1]>
        g () => (float[n] y, float[n] z) {
            x = Constant <value_floats = [1.0, 2.0]> ()
            y = f.grown <to = 7> (x)
            z = f.grown (x)
        }
        <domain: \"f\", opset_import: [\"\" : 21, \"f\" : 1]> grown <to: int = 6> (x) => (y) {
            y = f.cast <kind: int = @to> (x)
        }
        <domain: \"f\", opset_import: [\"\" : 21]> cast <kind> (x) => (y) { y = Cast <to: int = @kind> (x) }",
    );
    assert!(findings.is_empty(), "{findings:?}");
    let model = model.expect("a model");
    let mut executor = Executor::new(&model, Limits { bytes: 1 << 16, work: 1 << 20 });
    for &node in &model.graphs[model.main].nodes {
        executor.run(node).expect("it runs");
    }
    let mut elem = |port: usize| match executor.value(model.graphs[model.main].outputs[port].value) {
        Some(Val::Tensor(array)) => array.elem(),
        other => panic!("no tensor: {other:?}"),
    };
    assert_eq!([elem(0), elem(1)], [crate::graph::ElemType::Int64, crate::graph::ElemType::Int32]);
}

/// Asserts that a graph of constant nodes does not run.
#[track_caller]
fn refused(is_strict: bool, graph: &str) {
    let (model, findings) = read::text::read(&format!("<ir_version: 10, opset_import: [\"\" : 21]> {graph}"));
    assert!(findings.is_empty(), "{findings:?}");
    let model = model.expect("a model");
    let limits = Limits { bytes: 1 << 16, work: 1 << 20 };
    let mut executor =
        if is_strict { Executor::strict(&model, limits) } else { Executor::new(&model, limits) };
    let ran = model.graphs[model.main].nodes.iter().try_for_each(|&node| executor.run(node));
    assert!(ran.is_err(), "it runs");
}

/// Some facts rely on declared types, so a run that violates a declaration must fail.
#[test]
fn subgraph_value_that_contradicts_its_declaration_is_refused() {
    let body = |elem: &str, made: &str| {
        format!(
            "g () => (float[n] y) {{
                one = Constant <value_floats = [1.0]> ()
                s, y = Scan <num_scan_inputs = 1, body = b ({elem}[1] t, float p) => ({elem}[k] u, float q) {{
                    u = {made} q = Neg (p)
                }}> (one, one)
            }}"
        )
    };
    refused(false, &body("double", "Identity (t)"));
    refused(false, &body("float", "Concat <axis = 0> (t, t)"));
    let branch = "g () => (float[1,1] y) {
        c = Constant <value = bool { 1 }> ()
        y = If (c) <then_branch = a () => (float[n,m] p) { p = Constant <value_floats = [1.0]> () },
                    else_branch = b () => (float[n,m] q) { q = Constant <value = float[1,1] { 1 }> () }>
    }";
    refused(false, branch);
}

#[test]
fn strict_executor_refuses_undetermined_results() {
    let graph = "g () => (float y) {
        x = Constant <value = float[2] { nan, 1 }> ()
        y = ReduceMax <keepdims = 0> (x)
    }";
    check(21, &graph.replace("nan", "2"), &[], &[2.0]);
    refused(true, graph);
}

/// The results of a loop's subgraph are not stored in files: the next iteration reads them from memory.
#[test]
fn loop_with_growing_state_uses_the_result_of_the_last_turn() {
    let text = "<ir_version: 10, opset_import: [\"\" : 21]> g () => (int64[1] n) {
        s = Constant <value_ints = [300000]> ()
        a = ConstantOfShape <value = double[1] {1.0}> (s)
        m = Constant <value = int64 {2}> ()
        y = Loop (m, , a) <body = b (int64 i, bool c, double[K] u) => (c, double[L] v) { v = Concat <axis = 0> (u, u) }>
        n = Shape (y)
    }";
    let model = read::text::read(text).0.expect("a model");
    let mut executor = Executor::strict(&model, Limits { bytes: 1 << 24, work: 1 << 28 });
    for &node in &model.graphs[model.main].nodes {
        executor.run(node).expect("it runs");
    }
    let Some(Val::Tensor(len)) = executor.value(model.graphs[model.main].outputs[0].value) else {
        panic!("no tensor")
    };
    assert_eq!(len.f64s().expect("numbers"), [1_200_000.0]);
}
