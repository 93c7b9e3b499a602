//! Printed TorchScript graphs of `torch.jit.trace` and the tracing exporter.

use onnx_lint::read::torchscript;
use onnx_lint::source::SourceFiles;
use onnx_lint::torch::lint;

/// Lints a traced `forward` whose nodes are on lines 10, 11, … of `net.py`.
/// Compares findings at any level, sorted, as `CODE@line`.
#[track_caller]
fn check(inputs: &str, nodes: &str, returned: &str, expected: &[&str]) {
    let nodes = nodes.trim().lines().zip(10..);
    let nodes: String =
        nodes.map(|(node, line)| format!("  {} # /app/net.py:{line}:0\n", node.trim())).collect();
    let text = format!("graph(%self : __torch__.net.Net,\n      {inputs}):\n{nodes}  return ({returned})\n");
    let (traces, unread) = torchscript::read(&text);
    assert_eq!(unread, [], "{text}");
    let findings = traces.iter().flat_map(|trace| lint(trace, &SourceFiles::default(), None));
    let mut codes: Vec<String> = findings
        .map(|finding| format!("{}@{}", finding.code, finding.source.map_or(0, |source| source.line)))
        .collect();
    codes.sort();
    assert_eq!(codes, expected, "{text}");
}

/// Two inputs whose numbers are baked on one Python line are both reported.
#[test]
fn two_numbers_baked_on_one_line_are_reported() {
    let line = "# /app/net.py:10:0";
    let text = format!(
        "graph(%self : __torch__.net.Net,
      %x : Float(6, 6), %k : Long(), %m : Long()):
  %i : int = prim::Constant[value=0]() {line}
  %one : int = prim::Constant[value=1]() {line}
  %a : int = prim::Constant[value=4]() {line}
  %b : int = prim::Constant[value=3]() {line}
  %s : Float(4, 6) = aten::slice(%x, %i, %i, %a, %one) {line}
  %y : Float(4, 3) = aten::slice(%s, %one, %i, %b, %one) {line}
  return (%y)
"
    );
    let (traces, unread) = torchscript::read(&text);
    assert_eq!(unread, []);
    let findings = lint(&traces[0], &SourceFiles::default(), None);
    let mut said: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
    said.sort_unstable();
    let expected = [
        "3 is a constant of `aten::slice`, and input `m` is unused",
        "4 is a constant of `aten::slice`, and input `k` is unused",
    ];
    assert_eq!(said, expected);
}

#[test]
fn other_in_place_operators_on_sizes_are_named() {
    let changed = |call: &str| {
        let text = format!(
            "graph(%self : __torch__.net.Net,
      %x : Float(6, 6)):
  %i : int = prim::Constant[value=0]()
  %two : int = prim::Constant[value=2]()
  %s : Long() = aten::size(%x, %i)
  %m : Long() = {call}
  %u : Float(6, 6) = aten::mul(%x, %m)
  %y : Float(6, 6) = aten::add(%u, %m, %two)
  return (%y)
"
        );
        let (traces, _) = torchscript::read(&text);
        let findings = lint(&traces[0], &SourceFiles::default(), None);
        let help = |help: &Option<String>| help.clone().unwrap_or_default();
        let shown = findings.iter().map(|finding| format!("{}; {}", finding.message, help(&finding.help)));
        shown.collect::<Vec<_>>()
    };
    let said = |what: &str, help: &str| {
        vec![format!("`{what}` changes `s`, a traced size, in place: all its aliases change; {help}")]
    };
    let power = "write `m = n ** …`, which creates a new value, instead of `m **= …`";
    assert_eq!(changed("aten::pow_(%s, %two)"), said("**=", power));
    let clamp = "use the out-of-place `clamp_min`, which creates a new value";
    assert_eq!(changed("aten::clamp_min_(%s, %two)"), said("clamp_min_", clamp));
}

const IMAGES: &str = "%x : Float(2, 3, 8, 8, strides=[192, 64, 8, 1], requires_grad=0, device=cpu)";

#[test]
fn traced_layers_in_training_mode_are_reported() {
    let dropout = |rate: &str, training: &str| {
        format!(
            "%p : float = prim::Constant[value={rate}]()
             %t : bool = prim::Constant[value={training}]()
             %y : Float(2, 3, 8, 8) = aten::feature_dropout(%x, %p, %t)"
        )
    };
    check(IMAGES, &dropout("0.2", "1"), "%y", &["EXP010@12"]);
    check(IMAGES, &dropout("0.2", "0"), "%y", &[]);
    check(IMAGES, &dropout("0.", "1"), "%y", &[]);
    let attention = |rate: &str| {
        format!(
            "%n : NoneType = prim::Constant()
             %p : float = prim::Constant[value={rate}]()
             %f : bool = prim::Constant[value=0]()
             %y : Float(2, 3, 8, 8) = aten::scaled_dot_product_attention(%x, %x, %x, %n, %p, %f, %n, %f)"
        )
    };
    check(IMAGES, &attention("0.1"), "%y", &["EXP010@13"]);
    check(IMAGES, &attention("0."), "%y", &[]);
}

#[test]
fn traced_writes_into_views_are_reported() {
    let written = |view: &str, returned: &str| {
        format!(
            "%i : int = prim::Constant[value=0]()
             %one : int = prim::Constant[value=1]()
             %c : Float(2, 3, 8, 8, strides=[192, 64, 8, 1]) = aten::mul(%x, %one)
             %v : Float(6, 8, 8, strides=[64, 8, 1]) = {view}
             %w : Float(6, 8, 8, strides=[64, 8, 1]) = aten::add_(%v, %one, %one)
             %y : Float(2, 3, 8, 8) = aten::relu({returned})"
        )
    };
    check(IMAGES, &written("aten::flatten(%c, %i, %one)", "%c"), "%y", &["EXP004@14"]);
    // The first operand of `type_as` is read; the second one gives only its dtype.
    let flat = "aten::flatten(%c, %i, %one)";
    let read = |call: &str| written(flat, "%c").replace("aten::relu(%c)", call);
    check(IMAGES, &read("aten::type_as(%c, %x)"), "%y", &["EXP004@14"]);
    check(IMAGES, &read("aten::to(%c, %x, %i, %i, %i)"), "%y", &["EXP004@14"]);
    check(IMAGES, &read("aten::type_as(%x, %c)"), "%y", &[]);
    check(IMAGES, &read("aten::reshape_as(%x, %c)"), "%y", &[]);
    check(IMAGES, &read("aten::to(%x, %c, %i, %i, %i)"), "%y", &[]);
    // Not reported: the result of the write is used, or the write is to a copy.
    check(IMAGES, &written("aten::flatten(%c, %i, %one)", "%w"), "%y", &[]);
    check(IMAGES, &written("aten::add(%c, %one, %one)", "%c"), "%y", &[]);
}

#[test]
fn traced_masks_and_class_counts_are_reported() {
    let picked = "%zero : int = prim::Constant[value=0]()
        %m : Bool(2, 3, 8, 8) = aten::gt(%x, %zero)
        %l : Tensor?[] = prim::ListConstruct(%m)
        %y : Float(100) = aten::index(%x, %l)";
    check(IMAGES, picked, "%y", &["IDX005@13"]);
    let gathered = "%i : Long(4) = prim::Constant[value= 0  1  1  0 [ CPULongType{4} ]]()
        %l : Tensor?[] = prim::ListConstruct(%i)
        %y : Float(4, 3, 8, 8) = aten::index(%x, %l)";
    check(IMAGES, gathered, "%y", &[]);
    let classes = |number: &str| {
        format!(
            "%k : int = prim::Constant[value={number}]()
             %y : Long(2, 5) = aten::one_hot(%x, %k)"
        )
    };
    let labels = "%x : Long(2, strides=[1], requires_grad=0, device=cpu)";
    check(labels, &classes("-1"), "%y", &["EXP013@11"]);
    check(labels, &classes("5"), "%y", &[]);
}

#[test]
fn unused_inputs_and_constant_outputs_of_traces_are_reported() {
    let relu = "%y : Float(2, 3, 8, 8) = aten::relu(%x)";
    check(IMAGES, relu, "%y", &[]);
    check(&format!("{IMAGES},\n      %length : Long()"), relu, "%y", &["EXP008@10"]);
    let of_constants = "%n : int[] = prim::Constant[value=[2, 3]]()
        %o : Float(2, 3) = aten::zeros(%n)
        %y : Float(2, 3, 8, 8) = aten::relu(%x)
        %t : (Float(2, 3, 8, 8), Float(2, 3)) = prim::TupleConstruct(%y, %o)";
    check(IMAGES, of_constants, "%t", &["EXP009@11"]);
    let keyed = "%k : str = prim::Constant[value=\"logits\"]()
        %y : Float(2, 3, 8, 8) = aten::relu(%x)
        %d : Dict(str, Tensor) = prim::DictConstruct(%k, %y)";
    check(IMAGES, keyed, "%d", &["EXP011@11"]);
}
