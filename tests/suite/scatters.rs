//! Scatter nodes with a reduction, at opsets that lack the reduction: a `Loop` reduces them.

use crate::tool::Sandbox;

/// A scatter node: its operator and attributes, and the shapes of data and updates.
struct Case {
    scatter: &'static str,
    elem: &'static str,
    data: &'static str,
    updates: &'static str,
}

impl Case {
    /// Returns a model whose indices are -1 and 0, alternately, for each element or row of the updates.
    fn model(&self, is_in_branch: bool) -> String {
        let Case { scatter, elem, data, updates } = self;
        let index = match scatter.starts_with("ScatterND") {
            true => {
                "n = Gather (s, zero)  r = Range (zero, n, one)  m = Mod (r, two)  b = Sub (m, one)  \
                i = Unsqueeze (b, last)"
            }
            false => {
                "n = Size (u)  r = Range (zero, n, one)  m = Mod (r, two)  b = Sub (m, one)  i = Reshape (b, s)"
            }
        };
        let result = match is_in_branch {
            false => format!("y = {scatter} (x, i, u)"),
            true => format!(
                "y = If (c) <then_branch = t () => (d) {{ d = {scatter} (x, i, u) }},
                else_branch = e () => (f) {{ f = Identity (x) }}>"
            ),
        };
        format!(
            "<ir_version: 8, opset_import: [\"\" : 18]>
            main ({elem}[{data}] x, {elem}[{updates}] u, bool c) => ({elem}[{data}] y, bool d)
            <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64[1] last = {{-1}}> {{
                s = Shape (u)  {index}
                {result}
                d = Not (c)
            }}"
        )
    }

    /// Converts the model, compares it with the original in ONNX Runtime, and fixes it again.
    #[track_caller]
    fn check(&self, opset: &str, is_in_branch: bool) {
        let model = self.model(is_in_branch);
        let sandbox = Sandbox::new(&[("net.onnxtxt", &model)]);
        let mut arguments = vec!["net.onnxtxt", "--opset", opset, "-o", "out.onnxtxt"];
        if std::env::var_os("ORT_DYLIB_PATH").is_some() {
            arguments.push("--verify");
        }
        let ran = sandbox.fix(&arguments);
        assert_eq!(ran.status, 0, "opset {opset}: {ran:?}\n{model}");
        let text = String::from_utf8(sandbox.read("out.onnxtxt")).expect("ONNX text");
        assert!(text.contains("Loop") && !text.contains("reduction"), "{text}");
        let again = sandbox.fix(&["out.onnxtxt", "-o", "again.onnxtxt"]);
        assert_eq!(again.status, 0, "{again:?}");
        assert_eq!(sandbox.read("out.onnxtxt"), sandbox.read("again.onnxtxt"));
    }
}

#[test]
fn reductions_of_elements_become_loops() {
    let vector = |scatter, elem| Case { scatter, elem, data: "N", updates: "M" };
    vector("ScatterElements <reduction = \"add\">", "float").check("13", false);
    vector("ScatterElements <reduction = \"mul\">", "float").check("11", false);
    vector("ScatterElements <reduction = \"max\">", "int64").check("11", false);
    vector("ScatterElements <reduction = \"min\">", "float").check("17", false);
    vector("ScatterElements <reduction = \"add\">", "float").check("13", true);
    // ONNX Runtime sums and multiplies no unsigned integers along an axis.
    Case { data: "5", ..vector("ScatterElements <reduction = \"add\">", "uint32") }.check("13", false);
    vector("ScatterElements <reduction = \"mul\">", "uint64").check("13", false);
    let part = "ScatterElements <axis = -1, reduction = \"add\">";
    Case { scatter: part, elem: "float", data: "5,4", updates: "3,M" }.check("13", false);
}

#[test]
fn reductions_of_slices_become_loops() {
    let add = "ScatterND <reduction = \"add\">";
    Case { scatter: add, elem: "float", data: "N", updates: "M" }.check("13", false);
    Case { scatter: add, elem: "int64", data: "N,3", updates: "M,3" }.check("11", false);
    Case { scatter: add, elem: "uint64", data: "5", updates: "3" }.check("13", false);
    let max = "ScatterND <reduction = \"max\">";
    Case { scatter: max, elem: "float", data: "N,K", updates: "M,K" }.check("13", true);
}

#[test]
fn reductions_without_a_loop_are_rejected() {
    let model = "<ir_version: 8, opset_import: [\"\" : 18]>
        main (float[N] x, int64[M] i, float[M] u) => (float[N] y) {
            y = ScatterElements <reduction = \"add\"> (x, i, u)
        }";
    let sandbox = Sandbox::new(&[("net.onnxtxt", model)]);
    for arguments in [&["--opset", "10"][..], &["--opset", "13", "--target", "coreml"]] {
        let ran = sandbox.fix(&[&["net.onnxtxt", "-o", "out.onnxtxt"], arguments].concat());
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(ran.stderr.contains("`ScatterElements` cannot be converted"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("`Loop`"), "{}", ran.stderr);
    }
}

#[test]
fn bfloat16_reductions_below_opset_16_are_reported_at_their_node() {
    let max = "ScatterElements <reduction = \"max\">";
    let model = Case { scatter: max, elem: "bfloat16", data: "N", updates: "M" }.model(false);
    let sandbox = Sandbox::new(&[("net.onnxtxt", &model)]);
    let ran = sandbox.fix(&["net.onnxtxt", "--opset", "13", "-o", "out.onnxtxt"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stderr.contains("`ScatterElements` cannot be converted to opset 13"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("`Loop`"), "{}", ran.stderr);
}
