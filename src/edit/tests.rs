use std::sync::Arc;

use super::*;
use crate::diag::rule_ids::{DEAD_NODE, INLINED_FUNCTION};
use crate::graph::{Model, NodeId, ValueId};
use crate::read;
use crate::write::text::write;

fn model(graph: &str) -> Model {
    let (model, findings) = read::text::read(&format!("<ir_version: 8, opset_import: [\"\" : 17]> {graph}"));
    assert!(findings.is_empty(), "{findings:?}");
    model.expect("a model")
}

fn value(model: &Model, name: &str) -> ValueId {
    model.values.iter().find(|(_, value)| *value.name == *name).expect("a value of this name").0
}

fn maker(model: &Model, name: &str) -> NodeId {
    model.producer(value(model, name)).expect("a node makes it").0
}

/// Creates a patch of the main graph that replaces the producer of `replaced`.
fn patch(model: &Model, replaced: &str) -> Patch {
    let node = maker(model, replaced);
    let mut patch = Patch::new(model.main);
    patch.replaced.push(node);
    patch.changes.push(Change::new(DEAD_NODE, Site::Node(node), "tried"));
    patch
}

fn new_node(op: &str, inputs: &[Item<ValueId>], output: Item<ValueId>, origin: NodeId) -> PatchNode {
    PatchNode {
        form: PatchOp::New { domain: Arc::from(""), op_type: Arc::from(op), attrs: Vec::new() },
        inputs: inputs.iter().copied().map(Some).collect(),
        outputs: vec![Some(output)],
        at: At::Origin,
        origin: vec![origin],
        rule: Some(Arc::from("OPT1")),
    }
}

/// Applies the patches planned by `make`, and compares the model with the expected one as text.
#[track_caller]
fn check(graph: &str, make: impl Fn(&Model) -> Vec<Patch>, applied: usize, expected: &str) {
    let mut editor = Editor::new(model(graph));
    let patches = make(editor.model());
    assert_eq!((editor.apply(patches), editor.done().refused.clone()), (applied, vec![]));
    assert_eq!(write(editor.model()), write(&model(expected)));
    for (id, node) in editor
        .model()
        .nodes
        .iter()
        .filter(|(id, _)| editor.model().graphs[editor.model().main].nodes.contains(id))
    {
        for output in node.outputs.iter().flatten() {
            assert_eq!(editor.model().producer(*output).map(|(maker, _)| maker), Some(id));
        }
    }
}

/// Checks that a patch is rejected for the given reason, without any changes.
#[track_caller]
fn refused(graph: &str, make: impl Fn(&Model) -> Patch, why: &str) {
    let mut editor = Editor::new(model(graph));
    let before = write(editor.model());
    let patch = make(editor.model());
    assert_eq!(editor.apply(vec![patch]), 0);
    assert_eq!(editor.done().refused, [format!("OPT001 was skipped: {why}")]);
    assert_eq!((write(editor.model()), editor.done().changes.len()), (before, 0));
}

const CHAIN: &str = "g (float[N] x) => (float[N] y) { a = Neg (x)  b = Abs (a)  y = Relu (b) }";

#[test]
fn new_producer_takes_over_a_value_and_dead_inputs_are_removed() {
    let make = |model: &Model| {
        let mut patch = patch(model, "b");
        let (x, b) = (Item::Old(value(model, "x")), Item::Old(value(model, "b")));
        patch.nodes.push(new_node("Abs", &[x], b, patch.replaced[0]));
        vec![patch]
    };
    let mut editor = Editor::new(model(CHAIN));
    let patches = make(editor.model());
    assert_eq!(editor.apply(patches), 1);
    let node = maker(editor.model(), "b");
    assert_eq!(editor.model().nodes[node].metadata(RULE_KEY), Some("OPT1"));
    assert_eq!(editor.model().graphs[editor.model().main].nodes, [node, maker(editor.model(), "y")]);
}

#[test]
fn graph_output_keeps_its_name() {
    let make = |model: &Model| {
        let mut patch = patch(model, "y");
        patch.redirects.push((value(model, "y"), Item::Old(value(model, "b"))));
        vec![patch]
    };
    check(CHAIN, make, 1, "g (float[N] x) => (float[N] y) { a = Neg (x)  b = Abs (a)  y = Identity (b) }");
}

#[test]
fn redirections_are_transitive_and_apply_in_subgraphs() {
    let graph = |rest: &str| {
        format!(
            "g (float[N] x, bool c) => (float[N] y) {{ {rest}
            y = If (c) <then_branch = t () => (p) {{ p = Neg (WHAT) }}, else_branch = e () => (q) {{ q = Abs (WHAT) }}> }}"
        )
    };
    let before = graph("a = Identity (x)  b = Identity (a)").replace("WHAT", "b");
    let after = graph("").replace("WHAT", "x");
    let make = |model: &Model| {
        let redirected = |from: &str, to: &str| {
            let mut patch = patch(model, from);
            patch.redirects.push((value(model, from), Item::Old(value(model, to))));
            patch
        };
        vec![redirected("b", "a"), redirected("a", "x")]
    };
    check(&before, make, 2, &after);
}

#[test]
fn redirections_reach_new_nodes_of_subgraphs() {
    let graph = |rest: &str| {
        format!(
            "g (float[N] x, bool c) => (float[N] y) {{ {rest}
            y = If (c) <then_branch = t () => (p) {{ p = WHAT }}, else_branch = e () => (q) {{ q = Abs (x) }}> }}"
        )
    };
    let before = graph("a = Identity (x)").replace("WHAT", "Neg (a)");
    let after = graph("").replace("WHAT", "Exp (x)");
    let make = |model: &Model| {
        let (a, p) = (value(model, "a"), value(model, "p"));
        let mut outer = patch(model, "a");
        outer.redirects.push((a, Item::Old(value(model, "x"))));
        let mut inner = Patch { graph: model.values[p].graph, ..patch(model, "p") };
        inner.nodes.push(new_node("Exp", &[Item::Old(a)], Item::Old(p), maker(model, "p")));
        vec![outer, inner]
    };
    check(&before, make, 2, &after);
}

#[test]
fn first_of_two_conflicting_patches_is_applied() {
    let make = |model: &Model| {
        let mut patch = patch(model, "b");
        patch.redirects.push((value(model, "b"), Item::Old(value(model, "x"))));
        vec![patch.clone(), patch]
    };
    check(CHAIN, make, 1, "g (float[N] x) => (float[N] y) { y = Relu (x) }");
}

#[test]
fn nodes_are_sorted_after_patches() {
    // One node replaces the producers of `a` and `c`, at the position of the latter.
    let graph = "g (float[N] x) => (float[N] y) { a = Neg (x)  b = Abs (a)  c = Exp (x)  y = Add (b, c) }";
    let make = |model: &Model| {
        let mut patch = patch(model, "c");
        patch.replaced.push(maker(model, "a"));
        let origin = maker(model, "c");
        let (x, a, c) = (value(model, "x"), value(model, "a"), value(model, "c"));
        patch.nodes.push(new_node("Sin", &[Item::Old(x)], Item::Old(a), origin));
        patch.redirects.push((c, Item::Old(a)));
        vec![patch]
    };
    let mut editor = Editor::new(model(graph));
    let patches = make(editor.model());
    assert_eq!(editor.apply(patches), 1);
    let ops = editor.model().graphs[editor.model().main].nodes.iter();
    let ops: Vec<&str> = ops.map(|&node| &*editor.model().nodes[node].op_type).collect();
    assert_eq!(ops, ["Sin", "Abs", "Add"]);
}

#[test]
fn inconsistent_patches_are_refused() {
    let x = |model: &Model| Item::Old(value(model, "x"));
    let silent = |model: &Model| Patch { changes: Vec::new(), ..patch(model, "b") }.check(model);
    assert_eq!(silent(&model(CHAIN)), Err("the patch has no change record".to_owned()));
    let taken = |model: &Model| {
        let mut patch = patch(model, "b");
        patch.nodes.push(new_node("Abs", &[x(model)], Item::Old(value(model, "y")), patch.replaced[0]));
        patch
    };
    refused(CHAIN, taken, "`y` would be defined twice");
    let twice = |model: &Model| {
        let mut patch = patch(model, "b");
        let node = new_node("Abs", &[x(model)], Item::Old(value(model, "b")), patch.replaced[0]);
        patch.nodes = vec![node.clone(), node];
        patch
    };
    refused(CHAIN, twice, "`b` has two producers");
    let circle = |model: &Model| {
        let mut patch = patch(model, "b");
        patch.redirects.push((value(model, "b"), Item::Old(value(model, "b"))));
        patch
    };
    refused(CHAIN, circle, "the redirection of `b` is cyclic or repeated");
    let with_body = "g (float[N] x, bool c) => (float[N] y) { a = Neg (x)
        y = If (c) <then_branch = t () => (p) { p = Neg (a) }, else_branch = e () => (q) { q = Abs (a) }> }";
    let hidden = |model: &Model| {
        let mut patch = patch(model, "a");
        patch.redirects.push((value(model, "a"), Item::Old(value(model, "p"))));
        patch
    };
    refused(with_body, hidden, "`p` is not visible in the graph");
}

/// ONNX Runtime rejects a graph in which two nodes other than `Constant` have the same name.
#[test]
fn node_of_an_inlined_branch_is_renamed_if_its_name_is_not_unique() {
    let graph = "g (float[2] x, bool c) => (float[2] y) {
        [n] z = Abs (x)
        y = If (c) <then_branch = t () => (float[2] p) { [n] q = Neg (z) [m] p = Sin (q) },
                    else_branch = e () => (float[2] r) { [n] r = Identity (z) }>
    }";
    let mut editor = Editor::new(model(graph));
    let node = maker(editor.model(), "y");
    let branch = editor.model().nodes[node].graphs().next().expect("a branch");
    let patch = inline_branch(editor.model(), node, branch, "inlined").expect("a patch");
    assert_eq!(editor.apply(vec![patch]), 1);
    let model = editor.model();
    let names: Vec<_> = model.graphs[model.main]
        .nodes
        .iter()
        .map(|&node| model.nodes[node].name.as_deref().unwrap_or(""))
        .collect();
    assert_eq!(names, ["n", "n__1", "m"]);
    assert_eq!(repeated_node_names(model), []);
}

#[test]
fn function_call_is_inlined_in_place() {
    let text =
        "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]> g (float[N] x) => (float[N] y, float[N] z) {
            y, z = f.F <k = 2> (x) }
        <domain: \"f\", opset_import: [\"\" : 17]> F <k> (a) => (b, a) { t = Neg (a)  b = Abs (t) }";
    let (read, findings) = read::text::read(text);
    assert!(findings.is_empty(), "{findings:?}");
    let mut editor = Editor::new(read.expect("a model"));
    let call = maker(editor.model(), "y");
    let patch = editor.written_out(call, 0, Change::new(INLINED_FUNCTION, Site::Node(call), "inlined"));
    assert_eq!(editor.apply(vec![patch]), 1);
    let model = editor.model();
    let line = |&node: &NodeId| {
        let names = |values: &[Option<ValueId>]| {
            values.iter().flatten().map(|&value| model.values[value].name.to_string()).collect::<Vec<_>>()
        };
        let node = &model.nodes[node];
        format!("{:?} = {} {:?}", names(&node.outputs), node.op_type, names(&node.inputs))
    };
    let lines: Vec<String> = model.graphs[model.main].nodes.iter().map(line).collect();
    assert_eq!(lines, [r#"["t__1"] = Neg ["x"]"#, r#"["y"] = Abs ["t__1"]"#, r#"["z"] = Identity ["x"]"#]);
}

#[test]
fn dead_nodes_are_removed_with_their_producers() {
    let text = "g (bool c, float[n] x) => (float[n] y) <float[1] w = {1}> {
        u = Abs (x)
        v = If (c) <then_branch = t () => (a) { a = Neg (u) }, else_branch = e () => (b) { b = Exp (u) }>
        o = Add (v, w)
        y = If (c) <then_branch = s () => (p) { p = Neg (x) d = Cast <to = 7> (x) },
                    else_branch = f () => (q) { q = Identity (x) }>
    }";
    let mut editor = Editor::new(model(text));
    assert!(editor.remove_dead_code());
    let graphs = crate::graph::scopes::live(editor.model()).into_iter();
    let left = graphs.flat_map(|graph| editor.model().graphs[graph].nodes.clone());
    let mut left: Vec<&str> = left.map(|node| &*editor.model().nodes[node].op_type).collect();
    left.sort_unstable();
    assert_eq!(left, ["Identity", "If", "Neg"]);
    assert!(editor.model().graphs[editor.model().main].initializers.is_empty());
    assert_eq!(editor.done().changes.len(), 5, "four nodes and an initializer");
    assert!(!editor.remove_dead_code());
}
