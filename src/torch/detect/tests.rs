//! Each case is a module whose author made, or did not make, one mistake; the graphs are written by hand
//! after what `torch.jit.trace` prints.

use crate::read::source::SourceFiles;
use crate::read::torchscript;
use crate::torch::lint;

/// The nodes of a graph, each line `name : type = op` on line 10, 11, … of `net.py`, and what is said of
/// them: `rule@line`, sorted.
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
fn an_ordinary_graph_is_silent() {
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
fn sizes_changed_in_place() {
    let size = "%1 : int = prim::Constant[value=1]()
        %2 : int = aten::size(%x, %1)
        %n : Long() = prim::NumToTensor(%2)
        %4 : Long() = prim::Constant[value={3}]()
        %m : Long() = aten::mul_(%n, %4)";
    let both = format!("{size}\n %6 : Long() = aten::sub(%m, %m, %1)");
    check(X, &both, "%6", &["in-place-shape-alias@14"]);
    // `n *= 3` with no other name for n, used once: nothing can have gone wrong.
    let once = format!(
        "{size}\n %6 : int = aten::Int(%m)\n %7 : int[] = prim::ListConstruct(%6)\n %8 : Float(18) = aten::zeros(%7)"
    );
    check(X, &once, "%8", &[]);
    let new_value = both.replace("mul_", "mul");
    check(X, &new_value, "%6", &[]);
}

#[test]
fn views_written_to() {
    let clone = "%1 : NoneType = prim::Constant()
        %y : Float(2, 6, strides=[6, 1]) = aten::clone(%x, %1)
        %n : int[] = prim::Constant[value=[12]]()
        %one : int = prim::Constant[value=1]()";
    let flat = format!(
        "{clone}\n %v : Float(12, strides=[1]) = aten::view(%y, %n)\n %w : Float(12) = aten::add_(%v, %one, %one)"
    );
    check(X, &flat, "%y", &["in-place-view-lost@15"]);
    check(X, &flat, "%w", &[]);
    check(X, &flat.replace("aten::view", "aten::reshape"), "%y", &["in-place-view-lost@15"]);
    check(
        X,
        &flat.replace("aten::add_(%v, %one, %one)", "aten::zero_(%v)"),
        "%y",
        &["in-place-view-lost@15"],
    );
    check(X, &flat.replace("aten::add_", "aten::add"), "%y", &[]);
    // Read by another node, and only for its shape.
    check(X, &format!("{flat}\n %z : Float(2, 6) = aten::relu(%y)"), "%z", &["in-place-view-lost@15"]);
    check(X, &format!("{flat}\n %z : int = aten::size(%y, %one)"), "%z", &[]);
    // A part of a transposed tensor: the exporter follows the slice, not the transposition.
    let transposed = format!(
        "{clone}\n %zero : int = prim::Constant[value=0]()
        %t : Float(6, 2, strides=[1, 6]) = aten::transpose(%y, %zero, %one)
        %s : Float(2) = aten::select(%t, %zero, %zero)
        %w : Float(2) = aten::fill_(%s, %one)"
    );
    check(X, &transposed, "%y", &["in-place-view-lost@17"]);
}

#[test]
fn writes_that_the_exporter_follows() {
    let selected = "%zero : int = prim::Constant[value=0]()
        %one : int = prim::Constant[value=1]()
        %s : Float(6, strides=[1]) = aten::select(%x, %zero, %zero)
        %w : Float(6, strides=[1]) = aten::add_(%s, %one, %one)";
    check(X, selected, "%x", &[]);
    // `x[0] += 1` writes the sum back.
    let written_back = format!(
        "{selected}\n %s2 : Float(6, strides=[1]) = aten::select(%x, %zero, %zero)
        %b : bool = prim::Constant[value=0]()
        %c : Float(6, strides=[1]) = aten::copy_(%s2, %w, %b)"
    );
    check(X, &written_back, "%x", &[]);
    // The halves of a tensor do not overlap.
    let halves = "%two : int = prim::Constant[value=2]()
        %one : int = prim::Constant[value=1]()
        %l : Tensor[] = aten::chunk(%x, %two, %one)
        %a : Float(2, 3), %b : Float(2, 3) = prim::ListUnpack(%l)
        %c : Float(2, 3) = aten::sigmoid_(%a)
        %d : Float(2, 3) = aten::mul(%c, %b)";
    check(X, halves, "%d", &[]);
}

#[test]
fn training_mode() {
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
    // Without running statistics those of the batch are what the layer is meant to use.
    check(X, &norm.replace("prim::GetAttr[name=\"running_mean\"](%self)", "prim::Constant()"), "%y", &[]);
}

#[test]
fn loops_unrolled() {
    let constants: String = (0..6).map(|i| format!("%c{i} : int = prim::Constant[value={i}]()\n")).collect();
    let step = |i: usize, scale: &str| {
        format!(
            "%s{i} : Float(2) = aten::select(%x, %c1, %c{i})\n%m{i} : Float(2) = aten::mul(%s{i}, {scale})\n\
             %h{} : Float(2) = aten::add(%h{i}, %m{i}, %c1)\n",
            i + 1
        )
    };
    // All steps on one line, as in Python; the constants before them on others.
    let graph = |steps: &str| {
        let steps: String = steps.lines().map(|line| format!("  {line} # /app/net.py:20:0\n")).collect();
        let constants: String =
            constants.lines().map(|line| format!("  {line} # /app/net.py:10:0\n")).collect();
        format!("graph(%self : __torch__.net.Net, {X}, %h0 : Float(2)):\n{constants}{steps}  return (%h6)\n")
    };
    let whole: String = (0..6).map(|i| step(i, "%c2")).collect();
    check_text(&graph(&whole), &["unrolled-loop@20"]);
    // Other constants in every step, as in `0.3 * r + 0.6 * g`: written out by hand.
    let weighted: String = (0..6).map(|i| step(i, &format!("%c{i}"))).collect();
    check_text(&graph(&weighted), &[]);
    // Not the whole axis: the author meant these five.
    let part: String = (0..5).map(|i| step(i, "%c2")).collect::<String>() + "%h6 : Float(2) = aten::neg(%h5)";
    check_text(&graph(&part), &[]);
    // Another module in every step.
    let one_module = graph(&whole);
    let of_modules = one_module.lines().map(|line| {
        let module = line.split("%m").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("");
        if line.contains("aten::mul") {
            line.replace(" #", &format!(", scope: __module.cells.{module} #"))
        } else {
            line.to_owned()
        }
    });
    check_text(&(of_modules.collect::<Vec<_>>().join("\n") + "\n"), &[]);
}

#[test]
fn query_key_and_value_are_no_loop() {
    let nodes = "%zero : int = prim::Constant[value=0]()
        %l : Tensor[] = aten::unbind(%x, %zero)
        %q : Float(6), %k : Float(6), %v : Float(6) = prim::ListUnpack(%l)
        %y : Float(6) = aten::scaled_dot_product_attention(%q, %k, %v)";
    check("%x : Float(3, 6)", nodes, "%y", &[]);
}

#[test]
fn inputs_and_outputs_without_a_part() {
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
fn values_baked_in() {
    let with_scalar = format!("{X}, %k : Long()");
    let narrowed = "%one : int = prim::Constant[value=1]()
        %zero : int = prim::Constant[value=0]()
        %end : int = prim::Constant[value=4]()
        %y : Float(2, 4) = aten::slice(%x, %one, %zero, %end, %one)";
    check(&with_scalar, narrowed, "%y", &["item-baked@13"]);
    check(X, narrowed, "%y", &[]);
    // The size is one of x: nothing says that it came from k.
    check(&with_scalar, &narrowed.replace("value=4", "value=6"), "%y", &["dropped-input@10"]);
    let scaled = "%s : Double() = prim::Constant[value={1.93466}]()\n%y : Float(2, 6) = aten::div(%x, %s)";
    check(X, scaled, "%y", &["item-baked@10"]);
    check(X, &scaled.replace("1.93466", "0.707107"), "%y", &[]);
}

#[test]
fn constants_of_the_shape_of_an_input() {
    let data = "%c : Float(2, 6) = prim::Constant[value=<Tensor>]()
        %one : Long() = prim::Constant[value={1}]()
        %y : Float(2, 6) = aten::mul_(%c, %one)
        %z : Float(2, 6) = aten::add(%x, %y)";
    check(X, data, "%z", &["tensor-data@12"]);
    let numpy = "%c : Float(2, 6) = prim::Constant[value=<Tensor>]()
        %n : Float(2, 6) = aten::lift_fresh(%c)
        %z : Float(2, 6) = aten::add(%x, %n)";
    check(X, numpy, "%z", &["numpy-constant@11"]);
    check(X, &numpy.replace("2, 6) = prim", "1, 6) = prim"), "%z", &[]);
}

#[test]
fn indexing_with_constants() {
    let read = |first: &str, indices: &str| {
        format!(
            "%i : Long(2) = prim::Constant[value= {first}  1 [ CPULongType{{2}} ]]()
            %d : Long(2) = aten::detach(%i)
            %l : Tensor?[] = prim::ListConstruct({indices})
            %y : Tensor = aten::index(%x, %l)"
        )
    };
    check(X, &read("-1", "%d, %d"), "%y", &["negative-index@13"]);
    check(X, &read("0", "%d, %d"), "%y", &[]);
    let mask = "%m : Bool(2, 6) = aten::gt(%x, %x)\n%l : Tensor?[] = prim::ListConstruct(%m)\n%y : Tensor = aten::index(%x, %l)";
    check(X, mask, "%y", &["boolean-mask@12"]);
}

#[test]
fn assignments_through_indices() {
    let inputs = "%x : Float(4, 5, 6), %i : Long(2), %v : Float(2, 6)";
    let write = |indices: &str| {
        format!(
            "%n : NoneType = prim::Constant()
            %f : bool = prim::Constant[value=0]()
            %l : Tensor?[] = prim::ListConstruct({indices})
            %y : Float(4, 5, 6) = aten::index_put_(%x, %l, %v, %f)"
        )
    };
    check(inputs, &write("%i, %i"), "%y", &[]);
    check(
        &inputs.replace("%v : Float(2, 6)", "%v : Float(2, 5)"),
        &write("%i, %n, %i"),
        "%y",
        &["index-put-non-consecutive@13"],
    );
    check(
        &inputs.replace("%v : Float(2, 6)", "%v : Float(6)"),
        &write("%i, %i"),
        "%y",
        &["index-put-broadcast@13"],
    );
    check(&inputs.replace("%v : Float(2, 6)", "%v : Float()"), &write("%i, %i"), "%y", &[]);
    check(
        "%x : Float(4, 5, 6), %i : Long(3, 2), %v : Float(3, 2, 6)",
        &write("%i, %i"),
        "%y",
        &["index-put-rank@13"],
    );
    // `x[i, 0, j] = v`: the selected axis lies between.
    let between = "%one : int = prim::Constant[value=1]()
        %s : Float(4, 6) = aten::select(%x, %one, %one)
        %f : bool = prim::Constant[value=0]()
        %l : Tensor?[] = prim::ListConstruct(%i, %i)
        %y : Float(4, 6) = aten::index_put_(%s, %l, %v, %f)";
    check(
        "%x : Float(4, 5, 6), %i : Long(2), %v : Float(2)",
        between,
        "%x",
        &["index-put-non-consecutive@14"],
    );
}

#[test]
fn element_types() {
    let nodes =
        "%d : Double(6) = prim::GetAttr[name=\"scale\"](%self)\n%y : Double(2, 6) = aten::mul(%x, %d)";
    check(X, nodes, "%y", &["float64-promotion@11"]);
    // A tensor without dimensions does not promote; a cast is the author's decision.
    check(X, &nodes.replace("Double(6)", "Double()").replace("Double(2, 6)", "Float(2, 6)"), "%y", &[]);
    let cast = "%seven : int = prim::Constant[value=7]()\n%f : bool = prim::Constant[value=0]()\n%n : NoneType = prim::Constant()\n\
        %y : Double(2, 6) = aten::to(%x, %seven, %f, %f, %n)";
    check(X, cast, "%y", &[]);
}

#[test]
fn operators() {
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
}

/// A graph of the exporter, with its first axis free.
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
fn graphs_of_the_exporter() {
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
