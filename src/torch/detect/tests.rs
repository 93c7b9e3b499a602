//! Detector tests: each graph contains one mistake, or none.
//!
//! The graphs imitate the output of `torch.jit.trace`.

mod in_place;
mod indexing;
mod loops;

use crate::read::torchscript;
use crate::source::SourceFiles;
use crate::torch::lint;

/// Lints a graph and checks its sorted findings, each as `rule@line`.
///
/// Each line of `nodes`, `name : type = op`, is attributed to line 10, 11, … of `net.py`.
fn check(inputs: &str, nodes: &str, returned: &str, expected: &[&str]) {
    let statements = nodes
        .trim()
        .lines()
        .zip(10..)
        .map(|(node, line)| format!("  {} # /app/net.py:{line}:0\n", node.trim()));
    let text = format!(
        "graph(%self : __torch__.net.Net, {inputs}):\n{}  return ({returned})\n",
        statements.collect::<String>()
    );
    check_text(&text, expected);
}

fn check_text(text: &str, expected: &[&str]) {
    let (traces, unread) = torchscript::read(text);
    assert_eq!(unread, [], "{text}");
    let findings = traces.iter().flat_map(|trace| lint(trace, &SourceFiles::default(), None));
    let mut said: Vec<String> = findings
        .map(|finding| format!("{}@{}", finding.rule, finding.source.map_or(0, |source| source.line)))
        .collect();
    said.sort();
    assert_eq!(said, expected, "{text}");
}

const X: &str = "%x : Float(2, 6, strides=[6, 1])";

#[test]
fn ordinary_graph_has_no_findings() {
    let nodes = "%1 : Long() = prim::Constant[value={2}]()
        %2 : Float(2, 6) = aten::mul(%x, %1)
        %3 : float = prim::Constant[value=0.5]()
        %4 : bool = prim::Constant[value=0]()
        %5 : Float(2, 6) = aten::dropout(%2, %3, %4)
        %6 : int = prim::Constant[value=-1]()
        %7 : int[] = prim::ListConstruct(%6)
        %8 : Float(12) = aten::reshape(%5, %7)";
    check(X, nodes, "%8", &[]);
}

#[test]
fn training_mode_of_dropout_and_batch_norm_is_reported() {
    let dropout = "%p : float = prim::Constant[value=0.1]()
        %t : bool = prim::Constant[value=1]()
        %y : Float(2, 6) = aten::dropout(%x, %p, %t)";
    check(X, dropout, "%y", &["training-mode@12"]);
    check(X, &dropout.replace("value=1", "value=0"), "%y", &[]);
    check(X, &dropout.replace("value=0.1", "value=0."), "%y", &[]);
    let norm = "%w : Tensor = prim::GetAttr[name=\"w\"](%self)
        %m : Tensor = prim::GetAttr[name=\"running_mean\"](%self)
        %t : bool = prim::Constant[value=1]()
        %e : float = prim::Constant[value=0.1]()
        %y : Float(2, 6) = aten::batch_norm(%x, %w, %w, %m, %m, %t, %e, %e, %t)";
    check(X, norm, "%y", &["training-mode@14"]);
    // Without running statistics, the layer uses batch statistics by design.
    check(X, &norm.replace("prim::GetAttr[name=\"running_mean\"](%self)", "prim::Constant()"), "%y", &[]);
}

#[test]
fn unused_inputs_and_constant_outputs_are_reported() {
    let nodes = "%n : int[] = prim::Constant[value=[3]]()
        %ones : Float(3) = aten::ones(%n)
        %y : Float(2, 6) = aten::relu(%x)
        %pair : (Float(2, 6), Float(3)) = prim::TupleConstruct(%y, %ones)";
    check(X, nodes, "%pair", &["constant-output@11"]);
    check(&format!("{X}, %mask : Bool(2, 6)"), nodes, "%y", &["dropped-input@10"]);
    let of_size = "%zero : int = prim::Constant[value=0]()
        %n : int = aten::size(%x, %zero)
        %l : int[] = prim::ListConstruct(%n)
        %y : Float(2) = aten::zeros(%l)";
    check(X, of_size, "%y", &[]);
    let noise = "%n : int[] = prim::Constant[value=[3]]()
        %r : Float(3) = aten::randn(%n)
        %y : Float(2, 6) = aten::relu(%x)";
    check(X, noise, "%r, %y", &[]);
}

#[test]
fn values_of_inputs_baked_in_as_constants_are_reported() {
    let with_scalar = format!("{X}, %k : Long()");
    let narrowed = "%one : int = prim::Constant[value=1]()
        %zero : int = prim::Constant[value=0]()
        %end : int = prim::Constant[value=4]()
        %y : Float(2, 4) = aten::slice(%x, %one, %zero, %end, %one)";
    check(&with_scalar, narrowed, "%y", &["item-baked@13"]);
    check(X, narrowed, "%y", &[]);
    // The size 6 is a size of `x`, so it need not come from `k`.
    check(&with_scalar, &narrowed.replace("value=4", "value=6"), "%y", &["dropped-input@10"]);
    let scaled = "%s : Double() = prim::Constant[value={1.93466}]()\n%y : Float(2, 6) = aten::div(%x, %s)";
    check(X, scaled, "%y", &["item-baked@10"]);
    check(X, &scaled.replace("1.93466", "0.707107"), "%y", &[]);
}

#[test]
fn constants_with_the_shape_of_a_tensor_are_reported() {
    let data = "%c : Float(2, 6) = prim::Constant[value=<Tensor>]()
        %one : Long() = prim::Constant[value={1}]()
        %y : Float(2, 6) = aten::mul_(%c, %one)
        %z : Float(2, 6) = aten::add(%x, %y)";
    check(X, data, "%z", &["tensor-data@12"]);
    let numpy = "%c : Float(2, 6) = prim::Constant[value=<Tensor>]()
        %n : Float(2, 6) = aten::lift_fresh(%c)
        %z : Float(2, 6) = aten::add(%x, %n)";
    check(X, numpy, "%z", &["numpy-constant@11"]);
    check(X, &numpy.replace("lift_fresh", "to"), "%z", &["numpy-constant@11"]);
    // `torch.tensor([…])` of another shape is ordinary code.
    check(X, &numpy.replace("lift_fresh", "to").replace("2, 6) = prim", "1, 6) = prim"), "%z", &[]);
    let of_hidden = "%h : Float(2, 3) = aten::tanh(%x)
        %c : Float(2, 3) = prim::Constant[value=<Tensor>]()
        %z : Float(2, 3) = aten::sub(%h, %c)";
    check(X, of_hidden, "%z", &["tensor-data@12"]);
}

#[test]
fn reshape_to_constant_shape_is_reported() {
    let nodes = |sizes: &str| {
        format!("%n : int[] = prim::Constant[value={sizes}]()\n%y : Float(3, 4) = aten::reshape(%x, %n)")
    };
    check(X, &nodes("[3, 4]"), "%y", &["baked-shape@11"]);
    check(X, &nodes("[-1, 4]"), "%y", &[]);
}

#[test]
fn float64_promotion_is_reported_and_casts_are_not() {
    let nodes =
        "%d : Double(6) = prim::GetAttr[name=\"scale\"](%self)\n%y : Double(2, 6) = aten::mul(%x, %d)";
    check(X, nodes, "%y", &["float64-promotion@11"]);
    // A 0-d tensor does not promote.
    check(X, &nodes.replace("Double(6)", "Double()").replace("Double(2, 6)", "Float(2, 6)"), "%y", &[]);
    let cast = "%seven : int = prim::Constant[value=7]()\n%f : bool = prim::Constant[value=0]()\n%n : NoneType = prim::Constant()\n\
        %y : Double(2, 6) = aten::to(%x, %seven, %f, %f, %n)";
    check(X, cast, "%y", &[]);
}

#[test]
fn unsupported_operators_and_dict_outputs_are_reported() {
    check(X, "%y : Tensor = aten::lgamma(%x)\n%z : Tensor = aten::lgamma(%y)", "%z", &["unsupported-op@10"]);
    check(X, "%y : Tensor = mylib::gate(%x)", "%y", &["unsupported-op@10"]);
    check(X, "%y : Tensor = ^Gate[inplace=0, module=\"net\"]()(%x)", "%y", &["python-op@10"]);
    check(
        X,
        "%c : int = prim::Constant[value=-1]()\n%y : Tensor = aten::one_hot(%x, %c)",
        "%y",
        &["one-hot-depth@11"],
    );
    let dict = "%k : str = prim::Constant[value=\"sum\"]()\n%y : Tensor = aten::neg(%x)\n%d : Dict(str, Tensor) = prim::DictConstruct(%k, %y)";
    check(X, dict, "%d", &["dict-output@11"]);
    check(
        X,
        &format!("{dict}\n%t : (Tensor, Dict(str, Tensor)) = prim::TupleConstruct(%y, %d)"),
        "%t",
        &["dict-output@11"],
    );
}

/// Checks the findings of a graph of the tracing exporter with a dynamic first axis.
fn check_onnx(nodes: &str, returned: &str, expected: &[&str]) {
    let nodes: String = nodes
        .trim()
        .lines()
        .zip(10..)
        .map(|(node, line)| format!("  {}, scope: net.Net:: # /app/net.py:{line}:0\n", node.trim()))
        .collect();
    check_text(
        &format!("Exported graph: graph(%in0 : Float(*, 6)):\n{nodes}  return ({returned})\n"),
        expected,
    );
}

#[test]
fn graphs_of_the_tracing_exporter_are_linted() {
    let reshape = |shape: &str| {
        format!(
            "%s : Long(2) = onnx::Constant[value= {shape} [ CPULongType{{2}} ]]()\n%y : Float(*, *) = onnx::Reshape[allowzero=0](%in0, %s)"
        )
    };
    check_onnx(&reshape("4  3"), "%y", &["baked-shape@11"]);
    check_onnx(&reshape("3 -1"), "%y", &["baked-shape@11"]);
    check_onnx(&reshape("-1 3"), "%y", &[]);
    check_onnx(&reshape("1 -1"), "%y", &[]);
    check_onnx(&reshape("0 6"), "%y", &[]);
    let twice = "%s : Long(2) = onnx::Shape(%in0)
        %one : Long() = onnx::Constant[value={1}]()
        %n : Long() = onnx::Gather[axis=0](%s, %one)
        %m : Long() = onnx::Add(%n, %one)
        %y : Long() = onnx::Mul(%m, %m)";
    check_onnx(twice, "%y", &["in-place-shape-alias@14"]);
    check_onnx(&twice.replace("Mul(%m, %m)", "Mul(%m, %n)"), "%y", &[]);
    check_onnx("%y : Float(*, 6) = aten::ATen[operator=\"gate\"](%in0)", "%y", &["aten-fallback@10"]);
}
