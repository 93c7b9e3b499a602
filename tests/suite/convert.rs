//! Opset conversions that change more than single nodes.
//! Constants become attributes or initializers, and functions and branches are inlined.

use onnx_lint::fix::{Options, fix};
use onnx_lint::read;
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::write;

/// Converts a model in ONNX text; returns the result as text, or the blockers.
fn convert(text: &str, opset: i64) -> Result<String, Vec<String>> {
    let (model, findings) = read::text::read(text);
    assert_eq!(findings, [], "the model of the test is invalid");
    let options = Options { opset: Some(opset), ..Options::default() };
    let outcome = fix(model.expect("a model"), &options, &RuleSet::patterns());
    match outcome.findings.is_empty() {
        true => Ok(write::text::write(&outcome.model)),
        false => Err(outcome.findings.into_iter().map(|finding| finding.message).collect()),
    }
}

#[track_caller]
fn check(text: &str, opset: i64, expected: &[&str], absent: &[&str]) {
    let converted = convert(text, opset).unwrap_or_else(|faults| panic!("refused: {faults:?}"));
    for part in expected {
        assert!(converted.contains(part), "`{part}` is not in\n{converted}");
    }
    for part in absent {
        assert!(!converted.contains(part), "`{part}` is in\n{converted}");
    }
}

#[test]
fn constants_of_unsupported_types_become_initializers() {
    let integers = r#"<ir_version: 8, opset_import: ["" : 11]>
        g (int64[N] x, float[N] w) => (int64[N] y, float[N] z) {
            k = Constant <value = int64[1] {3}> ()
            f = Constant <value = float[1] {0.5}> ()
            y = Mul (x, k)
            z = Mul (w, f)
        }"#;
    check(integers, 9, &["ir_version: 4", "int64[1] k =  {3}", "float[1] f =  {0.5}"], &["Constant"]);
    check(
        integers,
        8,
        &["ir_version: 3", "<int64[1] k =  {3}>", "int64[1] k)", "f = Constant"],
        &["k = Constant"],
    );

    let in_body = r#"<ir_version: 8, opset_import: ["" : 11]>
        g (bool c, int64 x) => (int64 y) {
            y = If (c) <
                then_branch = t () => (int64 a) { a = Constant <value = int64 {7}> () },
                else_branch = e () => (int64 b) { k = Constant <value = int64 {5}> ()  b = Mul (x, k) }
            >
        }"#;
    check(in_body, 7, &["int64 k", "Identity (", "b = Mul (x, k)"], &["Constant"]);
}

#[test]
fn functions_are_inlined_if_the_target_does_not_support_them() {
    let functions = r#"<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[N,4] x) => (float[N,4] y, float[N,4] z) {
            [call] y, z = f.Scaled <by = 2.0> (x)
        }
        <domain: "f", opset_import: ["" : 17, "f" : 1]>
        Scaled <by> (v, w) => (twice, v) {
            k = Constant <value_float: float = @by> ()
            twice = f.Halved (v, k)
        }
        <domain: "f", opset_import: ["" : 17]>
        Halved (a, b) => (c) {
            h = Constant <value = float {0.5}> ()
            p = Mul (a, b)
            c = Mul (p, h)
        }"#;
    check(functions, 15, &["f.Scaled"], &[]);
    check(functions, 13, &["z = Identity (x)"], &["f.Scaled", "f.Halved", "@by"]);

    let recursive = r#"<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[N] x) => (float[N] y) { y = f.F (x) }
        <domain: "f", opset_import: ["" : 17, "f" : 1]>
        F (a) => (b) { b = f.F (a) }"#;
    let errors = convert(recursive, 13).expect_err("a function that calls itself");
    assert!(errors[0].ends_with("one function calls itself"), "{errors:?}");
}

#[test]
fn conversion_ends_for_an_exponential_number_of_paths() {
    let doubled: String = (0..150).map(|i| format!("v{} = Add (v{i}, v{i})\n", i + 1)).collect();
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[N,1] v0) => (float[N] y) {{\n{doubled}
        a = Constant <value = int64[1] {{1}}> ()\ny = Squeeze (v150, a)\n}}"
    );
    check(&text, 11, &["Squeeze <axes: ints = [1]> (v150)"], &[]);
}

#[test]
fn branches_with_constant_conditions_are_inlined() {
    let nested = r#"<ir_version: 8, opset_import: ["" : 17]>
        g (bool c, float[1,N] x) => (float[N] y, float[N] z) {
            yes = Constant <value = bool {1}> ()
            s = Shape (x)
            n = Size (s)
            two = Constant <value = int64 {2}> ()
            is_matrix = Equal (n, two)
            y = If (is_matrix) <
                then_branch = a () => (float[N] p) {
                    p = If (yes) <
                        then_branch = d () => (float[N] t) <int64[1] k = {0}> { t = Squeeze (x, k) },
                        else_branch = e () => (float[N] t) { t = Identity (x) }
                    >
                },
                else_branch = b () => (float[N] q) { q = Identity (x) }
            >
            z = If (is_matrix) <
                then_branch = a2 () => (float[N] p) { h = Neg (x)  k = Constant <value = int64[1] {0}> ()  p = Squeeze (h, k) },
                else_branch = b2 () => (float[N] q) { q = Identity (x) }
            >
        }"#;
    check(nested, 17, &["y = Squeeze (x, ", "z = Squeeze ("], &["If (", "then_branch", "Identity"]);

    let open = r#"<ir_version: 8, opset_import: ["" : 17]>
        g (bool c, float[N] x) => (float[N] y) {
            y = If (c) <
                then_branch = a () => (float[N] p) { p = Neg (x) },
                else_branch = b () => (float[N] q) { q = Relu (x) }
            >
        }"#;
    check(open, 17, &["If (c)"], &[]);
}

#[test]
fn branches_of_different_shapes_need_opset_11() {
    let model = |other: &str| {
        format!(
            r#"<ir_version: 8, opset_import: ["" : 12]>
            g (bool c, float[2] x, float[M] z) => (y) {{
                y = If (c) <
                    then_branch = t () => (float[2] a) {{ a = Relu (x) }},
                    else_branch = e () => (b) {{ b = {other} }}
                >
            }}"#
        )
    };
    check(&model("Relu (x)"), 9, &["If (c)"], &[]);
    check(&model("Concat <axis = 0> (x, x)"), 11, &["If (c)"], &[]);
    // If a runtime infers the shape of only one branch, it assumes that shape for both.
    for (other, shape) in [("Concat <axis = 0> (x, x)", "[4]"), ("Relu (z)", "[M]")] {
        let why = format!("its branches may have different output shapes: [2] and {shape}");
        let blocked = vec![format!("`If` cannot be converted to opset 9: {why}")];
        assert_eq!(convert(&model(other), 9), Err(blocked));
    }
}

#[test]
fn suggested_opset_is_reachable() {
    let check = |opset: i64, node: &str, help: Option<&str>| {
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : {opset}]> g (float[N,4,4] x) => (y) {{ {node} }}"
        );
        let (model, findings) = read::text::read(&text);
        assert_eq!(findings, [], "the model of the test is invalid");
        let options = Options { opset: Some(7), ..Options::default() };
        let outcome = fix(model.expect("a model"), &options, &RuleSet::patterns());
        let helps: Vec<Option<&str>> =
            outcome.findings.iter().map(|finding| finding.help.as_deref()).collect();
        assert_eq!(helps, [help], "{node}");
        let advised: Option<i64> = help.and_then(|help| help.split(' ').nth(3)?.parse().ok());
        assert!(advised.is_none_or(|advised| convert(&text, advised).is_ok() && convert(&text, advised - 1).is_err()));
    };
    check(22, "y = Gelu (x)", Some("convert to opset 9 or later"));
    check(22, "y = Det (x)", Some("convert to opset 11 or later"));
    // If only the opset of the model itself works, no opset is suggested.
    check(11, "y = Det (x)", None);
}
