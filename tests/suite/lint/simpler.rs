//! OPT: possible simplifications of exported patterns, and similar patterns that are not redundant.

use onnx_lint::graph::{Model, TensorData};

use super::{found_in, model_of, said_of};

#[track_caller]
fn check(graph: &str, expected: &[&str]) {
    assert_eq!(said_of("OPT", 17, graph), expected, "{graph}");
}

#[test]
fn dead_nodes_are_reported() {
    // A dead node makes its producer dead, too; only the last one is reported.
    check("g (float[N] x) => (float[N] y) { a = Relu (x)  b = Neg (a)  y = Abs (x) }", &["OPT001"]);
    // A dead node in a subgraph.
    check(
        "g (bool c, float[N] x) => (float[N] y) {
           y = If (c) <then_branch = a () => (float[N] p) { unused = Exp (x)  p = Relu (x) },
                       else_branch = b () => (float[N] q) { q = Neg (x) }>
         }",
        &["OPT001"],
    );
    check("g (float[N] x) => (float[N] y) <float w = {1}> { y = Abs (x) }", &["OPT002"]);
    // Not dead: a weight that only a subgraph uses, and a node with one used output.
    check(
        "g (bool c, float[N] x) => (float[N] y) <float w = {1}> {
           y = If (c) <then_branch = a () => (float[N] p) { p = Add (x, w) },
                       else_branch = b () => (float[N] q) { q = Neg (x) }>
         }",
        &[],
    );
    check("g (float[4] x) => (float[2] y) { k = Constant <value_ints = [2]> ()  y, i = TopK (x, k) }", &[]);
}

#[test]
fn duplicate_weights_are_reported() {
    // Large enough to be reported: 1,024 bytes.
    let numbers = |first: &str| format!("{{{first}{}}}", ", 0.25".repeat(255));
    let of = |a: &str, b: &str| {
        let model = format!("g (float[N,256] x) => (y, z) <{a}, {b}> {{ y = Mul (x, a)  z = Mul (x, b) }}");
        found_in("OPT", packed(model_of(17, &model)))
    };
    let a = format!("float[256] a = {}", numbers("0"));
    let none: [&str; 0] = [];
    assert_eq!(of(&a, &format!("float[256] b = {}", numbers("0"))), ["OPT003"]);
    assert_eq!(of(&a, &format!("float[256] b = {}", numbers("1"))), none);
    assert_eq!(of(&a, &format!("float[1,256] b = {}", numbers("0"))), none);
    // The weights are equal as numbers, but differ in the sign of zero.
    assert_eq!(of(&a, &format!("float[256] b = {}", numbers("-0.0"))), none);
    assert_eq!(of("float a = {2}", "float b = {2}"), none);
}

/// Stores floats of a model as raw data, as exporters do.
fn packed(mut model: Model) -> Model {
    for (_, tensor) in model.tensors.iter_mut() {
        if let TensorData::Floats(floats) = &tensor.data {
            let bytes: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
            tensor.data = TensorData::Raw(bytes.into());
        }
    }
    model
}

#[test]
fn no_op_nodes_are_reported() {
    for (node, code) in [
        ("y = Identity (x)", "OPT010"),
        ("s = Shape (x)  y = Reshape (x, s)", "OPT011"),
        ("y = Reshape (x, keep)", "OPT011"),
        ("y = Transpose <perm = [0, 1, 2]> (x)", "OPT012"),
        ("y = Cast <to = 1> (x)", "OPT013"),
        // A Slice from the start to the largest integer.
        ("y = Slice (x, zero, end, one)", "OPT014"),
        ("y = Slice (x, zero, end, one, one)", "OPT014"),
        ("y = Pad (x, pads)", "OPT015"),
        ("y = Concat <axis = 1> (x)", "OPT016"),
        ("y = Expand (x, ones)", "OPT017"),
        ("y = Tile (x, ones)", "OPT018"),
        ("y = Dropout (x, half)", "OPT019"),
    ] {
        check(&among_constants(&format!("{node}  z = Neg (y)")), &[code]);
    }
}

#[test]
fn similar_nodes_with_an_effect_are_not_reported() {
    for node in [
        // The target has the sizes of x in another order.
        "y = Reshape (x, mixed)",
        "y = Transpose <perm = [0, 2, 1]> (x)",
        "y = Cast <to = 10> (x)",
        "y = Slice (x, one, end, one)",
        "y = Slice (x, zero, three, one)",
        "y = Pad <mode = \"reflect\"> (x, more)",
        "y = Concat <axis = 1> (x, x)",
        "y = Expand (x, four)",
        "y = Tile (x, four)",
        "y = Dropout (x, half, yes)",
    ] {
        check(&among_constants(&format!("{node}  z = Neg (y)")), &[]);
    }
}

/// Returns a graph with an input `x` of shape `[N,4,L]`, and the constants that `nodes` use.
fn among_constants(nodes: &str) -> String {
    let constants = [
        ("zero", "int64[1] zero = {0}"),
        ("one", "int64[1] one = {1}"),
        ("three", "int64[1] three = {3}"),
        ("end", "int64[1] end = {9223372036854775807}"),
        ("keep", "int64[3] keep = {0, 0, -1}"),
        ("mixed", "int64[3] mixed = {0, -1, 4}"),
        ("ones", "int64[3] ones = {1, 1, 1}"),
        ("four", "int64[4] four = {2, 1, 1, 1}"),
        ("pads", "int64[6] pads = {0, 0, 0, 0, 0, 0}"),
        ("more", "int64[6] more = {0, 0, 1, 0, 0, 0}"),
        ("half", "float half = {0.5}"),
        ("yes", "bool yes = {1}"),
    ];
    let is_named = |name: &str| nodes.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
    let named: Vec<&str> =
        constants.iter().filter(|(name, _)| is_named(name)).map(|(_, constant)| *constant).collect();
    format!("g (float[N,4,L] x) => (z) <{}> {{ {nodes} }}", named.join(", "))
}

#[test]
fn redundant_pairs_of_nodes_are_reported() {
    let graph = |nodes: &str| format!("g (float[N,4,L] x) => (y) {{ {nodes} }}");
    let twice = |first: &str, second: &str| graph(&format!("t = {first} (x)  u = {second} (t)  y = Neg (u)"));
    // Two Transposes that cancel, as from TensorFlow converters, and two that can be merged into one.
    check(&twice("Transpose <perm = [0, 2, 1]>", "Transpose <perm = [0, 2, 1]>"), &["OPT101"]);
    check(&twice("Transpose <perm = [1, 2, 0]>", "Transpose <perm = [1, 2, 0]>"), &["OPT101"]);
    check(&twice("Cast <to = 11>", "Cast <to = 1>"), &["OPT103"]);
    check(
        "g (float[N,4,L] x) => (y) <int64[3] s = {0, -1, 2}, int64[2] r = {-1, 4}> { t = Reshape (x, s)  u = Reshape (t, r)  y = Neg (u) }",
        &["OPT102"],
    );
    check(
        "g (float[N,4,L] x) => (y) <int64[1] a = {1}> { t = Unsqueeze (x, a)  u = Squeeze (t, a)  y = Neg (u) }",
        &["OPT104"],
    );
    // Not redundant: Transposes with a node between them, a lossy first Cast, a Squeeze of another axis.
    check(
        &graph(
            "t = Transpose <perm = [0, 2, 1]> (x)  r = Relu (t)  u = Transpose <perm = [0, 2, 1]> (r)  y = Neg (u)",
        ),
        &[],
    );
    check(&twice("Cast <to = 10>", "Cast <to = 1>"), &[]);
    check(&twice("Cast <to = 7>", "Cast <to = 1>"), &[]);
    check(
        "g (float[1,4,L] x) => (y) <int64[1] a = {2}, int64[1] b = {0}> { t = Unsqueeze (x, a)  u = Squeeze (t, b)  y = Neg (u) }",
        &[],
    );
}
