//! Round trips between text and model, and errors in malformed text.

use super::*;
use crate::diag::Place;
use crate::graph::Def;

/// Parses `text` and checks the printed graph against `expected`.
fn check(text: &str, expected: &str) {
    let parsed = parse(&Source::new("t", text));
    assert_eq!(parsed.findings, [], "{text}");
    let printed = print(&parsed.model.expect("a model"));
    let graph = printed.text.split_once(">\n").map_or("", |(_, graph)| graph);
    assert_eq!(graph, expected);
    for (id, span) in parsed.spans.nodes() {
        assert!(!printed.nodes[&id].whole.is_empty() && !span.is_empty());
    }
}

fn check_faults(text: &str, expected: &[&str]) {
    let parsed = parse(&Source::new("t", text));
    let said: Vec<String> = parsed
        .findings
        .iter()
        .map(|finding| match &finding.place {
            Place::Text(place) => format!("{}:{}: {}", place.line, place.column, finding.message),
            place => format!("{place:?}"),
        })
        .collect();
    assert_eq!(said, expected, "{text}");
}

#[test]
fn graph_round_trips() {
    check(
        "g (float[N,3] x, float[] w) => (float[N,3] y) { y = Add (x, w) }",
        "g (float[N,3] x, float[] w) => (float[N,3] y) {\n   y = Add (x, w)\n}",
    );
    check(
        "g (float x) => (float y) <float[2] w = {1,0.5}, int64[?] t> { [\"n 1\"] t, \"\" = a.b.Op:o <a = 1, b = [1.5, 2], c: ints = []> (x, , w) y = Id () <s = \"a\\\"b\"> }",
        "g (float x) => (float y) \n   <float[2] w =  {1,0.5}, int64[?] t>\n{\n   [\"n 1\"] t, \"\" = a.b.Op:o <a: int = 1, b: floats = [1.5, 2], c: ints = []> (x, \"\", w)\n   y = Id <s: string = \"a\\\"b\"> ()\n}",
    );
}

#[test]
fn subgraphs_types_and_tensors_round_trip() {
    check(
        "g (seq(map(int64, float[2])) x, bool c) => (optional(opaque(d.e, n)) y) { y = If <then_branch = t () => (z) { z = Id (x) }, ty: type_proto = sparse_tensor(float[2])> (c) }",
        "g (seq(map(int64, float[2])) x, bool c) => (optional(opaque(d.e,n)) y) {\n   y = If (c) <then_branch: graph = t () => ( z) {\n      z = Id (x)\n   }, ty: type_proto = sparse_tensor(float[2])>\n}",
    );
    check(
        "g () => (string[1] y) <float[2] w = [\"location\": \"w.bin\"]> { y = Constant <value = string[1] {\"a\"}, t = int4[3] t1 {33, 3}, f = float {-inf}> () }",
        "g () => (string[1] y) \n   <float[2] w = [\"location\": \"w.bin\"]>\n{\n   y = Constant <value: tensor = string[1]{\"a\"}, t: tensor = int4[3] t1 {33,3}, f: tensor = float {-inf}> ()\n}",
    );
}

#[test]
fn functions_round_trip() {
    let function = "<\n  domain: \"d\",\n  doc_string: \"doc\",\n  opset_import: [\"\" : 17]\n>\nf <a,b: int = 2>(x) => (y)\n<float x>\n{\n   y = Op <a: int = @a> (x)\n}";
    let model =
        format!("<ir_version: 8, opset_import: [\"\": 17]> g (x) => (y) {{ y = d.f (x) }} {function}");
    let parsed = parse(&Source::new("t", &model));
    assert_eq!(parsed.findings, []);
    let printed = print(&parsed.model.expect("a model")).text;
    assert!(printed.ends_with(function), "{printed}");
}

#[test]
fn names_resolve_in_outer_scopes_and_in_any_order() {
    let text = "g (x) => (y) { y = Late (t, nowhere) t = If <b = h () => (x2) { x2 = Use (y, x) }> (x) }";
    let model = parse(&Source::new("t", text)).model.expect("a model");
    let def = |name: &str| {
        let mut defs =
            model.values.iter().filter(|(_, value)| &*value.name == name).map(|(_, value)| value.def);
        let def = defs.next();
        assert!(defs.next().is_none(), "{name} has two values");
        def
    };
    assert!(matches!(def("y"), Some(Def::Node { .. })) && matches!(def("t"), Some(Def::Node { .. })));
    assert_eq!((def("x"), def("nowhere")), (Some(Def::Input(0)), Some(Def::Missing)));
}

#[test]
fn parsing_recovers_after_an_error() {
    check_faults(
        "g (flat x) => (y) {\n  a = Relu (x\n  b = Op <axis = > (a)\n  y = Id <k: in = 1> (b)\n}",
        &[
            "1:4: `flat` is not a type; did you mean `float`?",
            "3:3: expected `)`, found `b`",
            "3:18: expected the value of an attribute, found `>`",
            "4:14: `in` is not an attribute kind",
        ],
    );
    check_faults("", &["1:1: expected the name of a graph, found the end of the text"]);
    check_faults(
        "g () => (y) { y = Constant <value_ints: ints = [1, \"a\"], v = 99999999999999999999> () }",
        &[
            "1:62: 99999999999999999999 does not fit in int64",
            "1:29: the value of `value_ints` is not of kind ints",
        ],
    );
}

#[test]
fn excessive_nesting_is_rejected() {
    let deep = "g () => (y) { y = If <b = ".repeat(10_000);
    let parsed = parse(&Source::new("t", &deep));
    assert!(parsed.findings.iter().any(|finding| finding.message.contains("levels deep")));
    let deep = format!("g ({} x) => () {{}}", "seq(".repeat(10_000));
    check_faults(&deep, &["1:516: nested more than 128 levels deep"]);
}

#[test]
fn node_is_printed_as_one_line() {
    let text = "g (float[N,12] x) => (y) <int64[2] s = {2,12}, float[2,2] w = {1,2,3,4}> { r = Reshape (x, s) c = Constant <value = float {0.5}> () l = Constant <value = int64[9] {1,2,3,4,5,6,7,8,9}> () y = d.Op <k = w2 () => () {}, t = float[2,2] {1,2,3,4}> (r, c, l, w, ) }";
    let model = parse(&Source::new("t", text)).model.expect("a model");
    let lines: Vec<_> = model.graphs[model.main].nodes.iter().map(|&node| line(&model, node)).collect();
    let texts: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
    let expected = [
        "r = Reshape (x, {2,12})",
        "c = Constant <value = float {0.5}> ()",
        "l = Constant <value = int64[9] {1,2,3,…(9)}> ()",
        "y = d.Op <k = <graph of 0 nodes>, t = float[2,2] {1,2,3,4}> (r, 0.5, l, w)",
    ];
    assert_eq!(texts, expected);
    let shape = lines[0].spans.inputs[1];
    assert_eq!(&lines[0].text[shape.range()], "{2,12}");
    assert_eq!(&lines[3].text[lines[3].spans.op.range()], "d.Op");
}
