use crate::infer::testing::{check, check_contradictions, check_faults};

#[test]
fn if_output_keeps_facts_common_to_both_branches() {
    let text = "g (bool c, float[n, 4] x, float[m, 4] z) => (a, b) {
        a, b = If(c) <
            then_branch = yes () => (p, q) { p = Relu(x) q = Relu(x) },
            else_branch = no () => (r, s) { r = Neg(x) s = Neg(z) }
        >
    }";
    check(text, &["p: float[n, 4]", "a: float[n, 4]", "b: float[b_dim_0, 4]"]);
}

#[test]
fn constant_condition_selects_a_branch() {
    let text = "g (float[n, 4] x) => (a) {
        shape = Shape(x)
        zero = Constant <value_int = 0> ()
        size = Gather(shape, zero)
        c = GreaterOrEqual(size, zero)
        a = If(c) <then_branch = yes () => (p) { p = Relu(x) }, else_branch = no () => (r) { r = Flatten(y) y = Unsqueeze(x, zero) }>
    }";
    check(text, &["c = [1]", "a: float[n, 4]"]);
}

#[test]
fn branches_of_different_types_are_reported() {
    let text = "g (bool c, float[n] x) => (a) {
        a = If(c) <
            then_branch = yes () => (p) { p = Relu(x) },
            else_branch = no () => (r) { r = Cast <to = 7> (x) }
        >
    }";
    check_faults(
        text,
        &["the branches produce different results for output 0: the element types differ: float and int64"],
    );
}

#[test]
fn loop_keeps_unchanged_state_shape() {
    let text = "g (int64 count, float[n, 4] x, float[0] none) => (kept, grown, rows) {
        kept, grown, rows = Loop(count, , x, none) <body = b (int64 i, bool go, float a, float g) => (on, a2, g2, row) {
            on = Identity(go)
            a2 = Relu(a)
            g2 = Concat <axis = 0> (g, one)
            one = Constant <value_floats = [1.0]> ()
            row = ReduceSum <keepdims = 0> (a)
        }>
    }";
    check(
        text,
        &["kept: float[n, 4]", "a2: float[n, 4]", "grown: float[grown_dim_0]", "rows: float[rows_dim_0]"],
    );
}

#[test]
fn constant_trip_count_sizes_scan_outputs() {
    let text = "g (float[n, 4] x) => (rows) {
        shape = Shape <end = 1> (x)
        count = Squeeze(shape)
        go = Constant <value = bool {1}> ()
        rows = Loop(count, go) <body = b (int64 i, bool go_in) => (go_in, row) { row = Gather(x, i) }>
    }";
    check(text, &["rows: float[n, 4]"]);
}

/// A symbol may have a different value in each iteration.
#[test]
fn iteration_symbols_do_not_escape() {
    let text = "g (int64 count, float[n] x) => (last, parts) {
        go = Constant <value = bool {1}> ()
        last, parts = Loop(count, go, x) <body = b (int64 i, bool go_in, float a) => (go_in, found, found) {
            at = NonZero(a)
            first = Constant <value_ints = [0]> ()
            flat = Squeeze(at, first)
            found = Gather(a, flat)
        }>
    }";
    check(text, &["last: float[last_dim_0]", "parts: float[parts_dim_0, parts_dim_1]"]);
}

#[test]
fn state_that_changes_type_is_reported() {
    let text = "g (int64 count, float[n] x) => (y) {
        y = Loop(count, , x) <body = b (int64 i, bool go, float a) => (go, c) { c = Cast <to = 7> (a) }>
    }";
    check_faults(
        text,
        &["the loop state of input 2 changes between iterations: the element types differ: float and int64"],
    );
}

#[test]
fn scan_slices_inputs_and_stacks_outputs() {
    let text = "g (float[4] start, float[t, 4] x) => (end, all) {
        end, all = Scan(start, x) <num_scan_inputs = 1, body = b (float[] s, float[] v) => (s2, o) {
            s2 = Add(s, v)
            o = Identity(s2)
        }>
    }";
    check(text, &["v: float[4]", "end: float[4]", "all: float[t, 4]"]);
}

#[test]
fn sequence_map_infers_element_type() {
    let text = "g (seq(float[n]) x, int64 axis) => (y) {
        y = SequenceMap(x, axis) <body = b (float v, int64 a) => (w) { w = Cast <to = 7> (v) }>
    }";
    check(text, &["y: seq(int64[?])"]);
}

const TWICE: &str = "<ir_version: 10, opset_import: [\"\" : 18, \"local\" : 1]>
    g (float[n] x, float[m, 3] z) => (a, b) {
        a = local.twice <axis: int = 0> (x)
        b = local.twice <axis: int = 1> (z)
    }
    <domain: \"local\", opset_import: [\"\" : 18]>
    twice <axis> (v) => (w) { w = Concat <axis: int = @axis> (v, v) }";

#[test]
fn functions_are_inferred_per_call() {
    check(TWICE, &["a: float[2*n]", "b: float[m, 6]", "w: float[...]"]);
}

/// Two calls whose inputs have equal facts may still have different data-dependent sizes.
#[test]
fn each_call_has_its_own_symbols() {
    let text = "<ir_version: 10, opset_import: [\"\" : 18, \"local\" : 1]>
    g (float[n] x, float[n] z) => (a, b) { a = local.nz(x) b = local.nz(z) }
    <domain: \"local\", opset_import: [\"\" : 18]>
    nz (v) => (w) { w = NonZero(v) }";
    check(text, &["a: int64[1, w_dim_1]", "b: int64[1, w_dim_1_1]"]);
}

#[test]
fn recursive_function_is_unknown() {
    let text = "<ir_version: 10, opset_import: [\"\" : 18, \"local\" : 1]>
    g (float[n] x) => (a) { a = local.f(x) }
    <domain: \"local\", opset_import: [\"\" : 18, \"local\" : 1]>
    f (v) => (w) { u = local.f(v) w = Add(u, v) }";
    check(text, &["a: float[...]"]);
}

#[test]
fn contradicting_declarations_are_reported() {
    let text = "g (float[n, 4] x) => (int64[n, 4] y, float[n, 5] z, float[m, 4] w) { y = Relu(x) z = Neg(x) w = Abs(x) }";
    check_contradictions(
        text,
        &[
            "y: int64[n, 4] is float[n, 4]: the element types differ: float and int64",
            "z: float[n, 5] is float[n, 4]: dimension 1 differs: 4 and 5",
        ],
    );
    check_contradictions(
        "g (float[n, 4] x) => (float[n] x) {}",
        &["x: float[n] is float[n, 4]: the ranks differ: 2 and 1"],
    );
}

#[test]
fn declared_types_complete_unknown_facts() {
    let text = "<ir_version: 10, opset_import: [\"\" : 18, \"other\" : 1]>
    g (float[n] x) => (y) <float[n, 3] t> { t = other.Op(x) y = Relu(t) }";
    check(text, &["y: float[n, 3]"]);
    let range = "g (float[n] x) => (float[batch] y) { at = NonZero(x) flat = Squeeze(at, zero) zero = Constant <value_ints = [0]> () y = Gather(x, flat) }";
    check(range, &["y: float[at_dim_1]"]);
}

#[test]
fn declared_shapes_of_main_graph_outputs_are_not_trusted() {
    let text = "<ir_version: 10, opset_import: [\"\" : 18, \"other\" : 1]>
    g (float[n] x) => (float[n, 3] y, z) { y = other.Op(x) z = Relu(y) }";
    check(text, &["y: float[...]", "z: float[...]"]);
    check(
        "g (float[?, 6] x) => (int64[1] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }",
        &["y: int64[x_dim_0]"],
    );
    check(
        "g (float[n] x) => (int64[1, 7] y, z) { y = NonZero(x) z = Shape(y) }",
        &["y: int64[1, y_dim_1]", "z: int64[2]"],
    );
}

#[test]
fn placeholder_dim_names_are_ignored() {
    check("g (float[None, None] x) => (y) { y = Transpose(x) }", &["y: float[x_dim_1, x_dim_0]"]);
}

#[test]
fn unsorted_nodes_are_inferred() {
    check("g (float[n] x) => (y) { y = Neg(z) z = Cast <to = 7> (x) }", &["y: int64[n]"]);
}

#[test]
fn long_chain_takes_linear_time() {
    let length = 20_000;
    let nodes: String = (1..length).map(|at| format!("v{at} = Relu(v{})\n", at - 1)).collect();
    let last = format!("v{}", length - 1);
    check(&format!("g (float[n, 4] v0) => ({last}) {{ {nodes} }}"), &[&format!("{last}: float[n, 4]")]);
}

#[test]
fn loop_must_return_a_bool_condition() {
    let body = |ty, node| {
        format!(
            "g (int64 m, bool c, float[3] x) => (y) {{
                y = Loop <body = b (int64 i, bool k, float[3] s) => ({ty} l, float[3] u) {{
                    l = {node}
                    u = Neg(s)
                }}> (m, c, x)
            }}"
        )
    };
    check_faults(&body("bool", "Identity(k)"), &[]);
    check_faults(
        &body("float", "Cast <to = 1> (k)"),
        &["`body` must return a bool, the condition, as its first output"],
    );
}

#[test]
fn scan_must_keep_the_shape_of_its_state() {
    let scan = |state: &str, node: &str| {
        format!(
            "g (float[{state}] a, float[4, 3] x) => (y) {{
                y = Scan <num_scan_inputs = 1, body = b (s, e) => (t) {{ t = {node} }}> (a, x)
            }}"
        )
    };
    check_faults(&scan("n", "Identity(s)"), &[]);
    check_faults(&scan("3", "Add(s, e)"), &[]);
    check_faults(
        &scan("3", "Concat <axis = 0> (s, e)"),
        &["the loop state of input 0 changes between iterations: dimension 0 differs: 3 and 6"],
    );
}

#[test]
fn scan_inputs_must_have_the_same_length() {
    let scan = |axis: usize, size: &str| {
        format!(
            "g (float[3] a, float[4, 3] x, float[3, {size}] w) => (y) {{
                y = Scan <num_scan_inputs = 2, scan_input_axes = [0, {axis}], body = b (s, e, f) => (t) {{
                    t = Add(s, e)
                }}> (a, x, w)
            }}"
        )
    };
    check_faults(&scan(1, "4"), &[]);
    check_faults(&scan(1, "n"), &[]);
    check_faults(&scan(1, "5"), &["axis 0 of input 1 is 4, but axis 1 of input 2 is 5"]);
    check_faults(&scan(0, "4"), &["axis 0 of input 1 is 4, but axis 0 of input 2 is 3"]);
}

/// Returns a model whose main graph does not call its function `F`.
fn uncalled(signature: &str, body: &str) -> String {
    format!(
        "<ir_version: 10, opset_import: [\"\" : 20, \"ai.onnx.ml\" : 3, \"local\" : 1]>
        g (float[2, 3] x) => (y) {{ y = Relu(x) }}
        <domain: \"local\", opset_import: [\"\" : 20, \"ai.onnx.ml\" : 3]>
        F {signature} {{ {body} }}"
    )
}

#[test]
fn attributes_of_functions_without_a_call_are_unknown() {
    let scaler = |offset: &str| {
        let body = format!("z = ai.onnx.ml.Scaler <scale = [1.0], {offset}> (v)");
        uncalled("<s> (v) => (z)", &body)
    };
    check_faults(&scaler("offset: floats = @s"), &[]);
    check_faults(&scaler("offset = [1.0, 2.0]"), &["`scale` must have as many elements as `offset`"]);
    check_faults(&uncalled("<s> () => (z)", "z = Optional <type: type_proto = @s> ()"), &[]);
}

#[test]
fn sequences_are_checked_only_where_the_code_runs() {
    let list = "list = SequenceConstruct(x, x) at = Constant <value_int = 2> ()";
    let fault = &["`position` must be a position in the sequence"];
    let at = "z = SequenceAt(list, at)";
    check_faults(&format!("g (float[n] x) => (z) {{ {list} {at} }}"), fault);
    let branch = format!(
        "g (bool c, float[n] x) => (y) {{
            {list}
            y = If(c) <then_branch = t () => (z) {{ {at} }}, else_branch = e () => (w) {{ w = Relu(x) }}>
        }}"
    );
    check_faults(&branch, &[]);
    check_faults(&uncalled("(x) => (z)", &format!("{list} {at}")), &[]);
    let called = |call: &str| {
        format!(
            "<ir_version: 10, opset_import: [\"\" : 20, \"local\" : 1]>
            g (bool c, float[n] x) => (y) {{ {call} }}
            <domain: \"local\", opset_import: [\"\" : 20]>
            F (x) => (z) {{ {list} {at} }}"
        )
    };
    check_faults(&called("y = local.F(x)"), fault);
    let call =
        "y = If(c) <then_branch = t () => (p) { p = local.F(x) }, else_branch = e () => (q) { q = Relu(x) }>";
    check_faults(&called(call), &[]);
}
