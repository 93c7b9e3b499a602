//! Conversion and linting of TorchScript archives.

use std::io::Write;

use onnx_lint::graph::{DeclaredDim, Model, TypeKind};

use crate::tool::{Sandbox, snapshot};

/// Writes an archive with this code of the class `Net`, which has no attributes but `training`.
fn write(sandbox: &Sandbox, forward: &str) {
    let code =
        format!("class Net(Module):\n  training : bool\n  def forward(self: __torch__.Net,\n    {forward}");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(sandbox.path("net.pt")).expect("a file"));
    let entries: [(&str, &[u8]); 3] = [
        ("net/code/__torch__.py", code.as_bytes()),
        ("net/data.pkl", b"\x80\x02c__torch__\nNet\n)\x81}X\x08\x00\x00\x00training\x89sb."),
        ("net/constants.pkl", b"\x80\x02)."),
    ];
    for (name, content) in entries {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(content).expect("its content");
    }
    zip.finish().expect("an archive");
}

/// Converts an archive; returns the exit status, the messages, and the model, if any.
fn converted(sandbox: &Sandbox, file: &str, shapes: &[&str]) -> (i32, String, Option<Model>) {
    let shapes = shapes.iter().flat_map(|shape| ["--input-shape", shape]);
    let arguments: Vec<&str> = [file, "-o", "out.onnx"].into_iter().chain(shapes).collect();
    let ran = sandbox.fix(&arguments);
    let made = sandbox.path("out.onnx");
    let model =
        made.exists().then(|| onnx_lint::open(&made).unwrap_or_else(|faults| panic!("{faults:?}")).model);
    (ran.status, ran.stderr, model)
}

/// Converts code with an input `x` of shape [batch, 4]; returns the operators of the main graph.
#[track_caller]
fn operators(forward: &str) -> Vec<String> {
    let sandbox = Sandbox::new(&[]);
    write(&sandbox, forward);
    let (status, messages, model) = converted(&sandbox, "net.pt", &["x=batch,4"]);
    assert_eq!(status, 0, "{messages}");
    let model = model.expect("a model was written");
    let nodes = &model.graphs[model.main].nodes;
    nodes.iter().map(|&node| model.nodes[node].op_type.to_string()).collect()
}

/// Returns the sizes of the first output.
fn output_sizes(model: &Model) -> Vec<String> {
    let ty = model.graphs[model.main].outputs[0].info.ty.as_ref().expect("a type");
    let TypeKind::Tensor { shape: Some(shape), .. } = &ty.kind else { panic!("{ty:?}") };
    let size = |dim: &DeclaredDim| match dim {
        DeclaredDim::Value(size) => size.to_string(),
        DeclaredDim::Param(name) => name.to_string(),
        DeclaredDim::Absent => "?".to_owned(),
    };
    shape.iter().map(|dimension| size(&dimension.dim)).collect()
}

#[test]
fn traced_archive_has_the_shapes_of_its_example_inputs() {
    for (name, expected) in [("convolution", ["2", "5"].as_slice()), ("attention", &["2", "5", "8"])] {
        let sandbox = Sandbox::new(&[]);
        let file = format!("{name}.pt");
        sandbox.bring(&format!("tests/models/archives/{file}"), &file);
        let (status, messages, model) = converted(&sandbox, &file, &[]);
        assert_eq!(status, 0, "{messages}");
        assert_eq!(output_sizes(&model.expect("a model was written")), expected, "{name}");
    }
}

#[test]
fn declared_names_are_dynamic_sizes() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring("tests/models/archives/attention.pt", "attention.pt");
    let (status, messages, model) = converted(&sandbox, "attention.pt", &["in0=batch,length"]);
    assert_eq!(status, 0, "{messages}");
    assert_eq!(output_sizes(&model.expect("a model was written")), ["batch", "length", "8"]);
    let fixed = sandbox.fix(&["attention.pt", "--fix-shape", "in0=4,3", "-o", "out.onnx"]);
    assert_eq!(fixed.status, 0, "{fixed:?}");
    let model = onnx_lint::open(sandbox.path("out.onnx")).unwrap_or_else(|faults| panic!("{faults:?}")).model;
    assert_eq!(output_sizes(&model), ["4", "3", "8"]);
}

#[test]
fn scripted_archive_with_branches_and_loops_on_data_is_converted() {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring("tests/models/archives/flow.pt", "flow.pt");
    let (status, messages, model) = converted(&sandbox, "flow.pt", &["in0=batch,4", "in1=:int64"]);
    assert_eq!(status, 0, "{messages}");
    let model = model.expect("a model was written");
    let count = |op: &str| model.nodes.iter().filter(|(_, node)| &*node.op_type == op).count();
    assert_eq!((count("If"), count("Loop")), (1, 2));
}

#[test]
fn branches_on_constants_and_known_sizes_are_folded() {
    let folded = |condition: &str| {
        let forward = format!(
            "x: Tensor) -> Tensor:\n    if {condition}:\n      y = torch.relu(x)\n    else:\n      y = torch.abs(x)\n    return y\n"
        );
        operators(&forward)
    };
    for condition in [
        "torch.eq(torch.floordiv(-7, 2), -4)",
        "torch.eq(torch.remainder(-7, 2), 1)",
        "torch.eq(torch.dim(x), 2)",
        "torch.gt(torch.size(x, -1), 3)",
        "torch.eq(ops.prim.dtype(x), 6)",
        "torch.__contains__([1, 2], torch.dim(x))",
        "torch.eq(torch.mul(torch.size(x, 0), 2), torch.add(torch.size(x, 0), torch.size(x, 0)))",
        "torch.__isnot__(x, None)",
        "torch.__not__(self.training)",
    ] {
        assert_eq!(folded(condition), ["Relu"], "{condition}");
    }
    for condition in [
        "torch.__contains__([9007199254740992], 9007199254740993)",
        "torch.eq(torch.__and__(2, 1), 1)",
        "torch.any([0, 0])",
        "torch.__not__(torch.all([2, 4]))",
        "torch.eq(torch.dim(x), 3)",
        "self.training",
    ] {
        assert_eq!(folded(condition), ["Abs"], "{condition}");
    }
    assert_eq!(folded("torch.gt(torch.size(x, 0), 3)").last().map(String::as_str), Some("If"));
}

#[test]
fn loops_with_a_known_number_of_rounds_are_unrolled() {
    let forward = "x: Tensor) -> Tensor:\n    y = x\n    for i in range(torch.size(x, 1)):\n      y = torch.sin(y)\n    return y\n";
    assert_eq!(operators(forward), ["Sin"; 4]);
}

#[test]
fn sizes_are_computed_from_dynamic_sizes() {
    let sandbox = Sandbox::new(&[]);
    write(
        &sandbox,
        "x: Tensor) -> Tensor:\n    n = torch.floordiv(torch.mul(torch.size(x, 0), 4), 2)\n    return torch.reshape(x, [n, -1])\n",
    );
    let (status, messages, model) = converted(&sandbox, "net.pt", &["x=batch,4"]);
    assert_eq!(status, 0, "{messages}");
    assert_eq!(output_sizes(&model.expect("a model was written")), ["2*batch", "2"]);
}

#[test]
fn unsupported_archives_are_refused_with_a_reason() {
    let branch = "if bool(torch.gt(torch.sum(x), 0)):";
    for (name, forward) in [
        ("shapes", "x: Tensor,\n    n: Tensor) -> Tensor:\n    return torch.mul(x, n)\n".to_owned()),
        (
            "append",
            format!("x: Tensor) -> Tensor:\n    l = annotate(List[Tensor], [x])\n    {branch}\n      _0 = torch.append(l, x)\n    else:\n      pass\n    return torch.stack(l)\n"),
        ),
        (
            "shared",
            format!("x: Tensor) -> Tensor:\n    y = torch.clone(x)\n    {branch}\n      z = y\n    else:\n      z = torch.neg(y)\n    _0 = torch.add_(z, 1)\n    return torch.add(y, z)\n"),
        ),
        (
            "ranks",
            format!("x: Tensor) -> Tensor:\n    {branch}\n      y = x\n    else:\n      y = None\n    return y\n"),
        ),
        ("number", "x: Tensor,\n    n: int) -> Tensor:\n    return torch.mul(x, n)\n".to_owned()),
        ("operator", "x: Tensor) -> Tensor:\n    return torch.quantize_somehow(x)\n".to_owned()),
        ("raises", "x: Tensor) -> Tensor:\n    ops.prim.RaiseException(\"no\")\n    return x\n".to_owned()),
        ("attribute", "x: Tensor) -> Tensor:\n    self.training = True\n    return x\n".to_owned()),
        ("recursion", "x: Tensor) -> Tensor:\n    return (self).forward(x, )\n".to_owned()),
        (
            "cycle",
            "x: Tensor) -> Tensor:\n    l = annotate(List[Tensor], [])\n    _0 = torch.append(l, l)\n    _1 = torch.append(l, l)\n    return x\n"
                .to_owned(),
        ),
        ("syntax", "x: Tensor) -> Tensor:\n    with x:\n      pass\n    return x\n".to_owned()),
    ] {
        let sandbox = Sandbox::new(&[]);
        write(&sandbox, &forward);
        let shapes: &[&str] = if name == "shapes" { &[] } else { &["x=batch,4"] };
        let (status, messages, model) = converted(&sandbox, "net.pt", shapes);
        assert!(status > 0 && model.is_none(), "{name}: {messages}");
        snapshot("archives", name, &messages);
    }
}

/// Batch statistics without running statistics are an ordinary computation.
#[test]
fn batch_statistics_are_computed() {
    let made = operators(
        "x: Tensor) -> Tensor:\n    return torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-05, True)\n",
    );
    assert!(made.iter().any(|op| op.starts_with("ReduceMean") || op == "BatchNormalization"), "{made:?}");
}

/// Checks that code with an input `x` of shape [batch, 4] is refused at its line for a reason.
#[track_caller]
fn refused(body: &str, why: &str) {
    let sandbox = Sandbox::new(&[]);
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    write(&sandbox, &format!("x: Tensor) -> Tensor:\n{body}"));
    let (status, messages, model) = converted(&sandbox, "net.pt", &["x=batch,4"]);
    assert!(status == 1 && model.is_none() && messages.contains(why), "{body}{messages}");
    assert!(messages.contains("code/__torch__.py:"), "{messages}");
}

#[test]
fn code_of_unknown_meaning_is_refused() {
    let branch = "if bool(torch.gt(torch.sum(x), 0)):\n  a = [torch.neg(x)]\nelse:\n  pass\n";
    refused("return torch.mul(x, torch.__and__(torch.size(x, 0), 1))", "the bits of a computed integer");
    refused("if ops.prim.requires_grad(x):\n  x = torch.neg(x)\nelse:\n  pass\nreturn x", "gradients");
    refused("if torch.is_grad_enabled():\n  x = torch.neg(x)\nelse:\n  pass\nreturn x", "gradients");
    refused("return torch.to(x, 24)", "the dtype with the number 24");
    refused("return torch.add(x, torch.tensor(annotate(List[int], [])))", "an empty list");
    refused(
        "a = torch.tensor(5)\n_0 = torch.add_(torch.view(a, [1]), 1)\nreturn torch.mul(x, a)",
        "0-d tensor",
    );
    refused(&format!("a = [x]\nb = a\n{branch}_0 = torch.append(a, x)\nreturn torch.cat(b)"), "replaced");
    refused(&format!("a = [x]\nb = a\n{branch}_0 = torch.append(b, x)\nreturn torch.cat(a)"), "replaced");
    let text = "torch.percentFormat(\"k%d\", 1)";
    refused(
        &format!("if torch.eq({text}, {text}):\n  x = torch.neg(x)\nelse:\n  pass\nreturn x"),
        "compares",
    );
    refused(&format!("d = {{{text}: x}}\nreturn d[\"k1\"]"), "computed key");
}

#[test]
fn code_that_grows_without_bound_is_refused() {
    refused(
        "t = (1, 2)\nfor i in range(60):\n  t = (t, t)\nb = torch.eq(t, t)\nreturn x",
        "nested too deeply",
    );
    refused("d = {\"a\": 1}\n_0 = torch._set_item(d, \"a\", d)\nreturn x", "nested too deeply");
    refused("s = \"abcdefgh\"\nfor i in range(60):\n  s = torch.add(s, s)\nreturn x", "too many steps");
    refused("l = [1]\nfor i in range(60):\n  l = torch.add(l, l)\nreturn x", "too many steps");
    refused("n = torch.__range_length(-5, 9223372036854775807, 1)\nreturn x", "too long");
    refused("for i in range(600000):\n  x = torch.relu(x)\nreturn x", "too many operators");
    refused("while True:\n  pass\nreturn x", "too many rounds");
    refused("l = torch.mul([1], 1000000)\nreturn x", "too many members");
    let sandbox = Sandbox::new(&[]);
    write(&sandbox, &format!("x: Tensor) -> Tensor:\n    y = x{}\n    return x\n", ".a".repeat(300_000)));
    let (status, messages, _) = converted(&sandbox, "net.pt", &["x=batch,4"]);
    assert!(status == 2 && messages.contains("line 5: the expression is nested too deeply"), "{messages}");
}

#[test]
fn nested_loops_over_dynamic_sizes_are_converted() {
    let made = operators(
        "x: Tensor) -> Tensor:\n    n = torch.size(x, 0)\n    for i in range(n):\n      for j in range(n):\n        x = torch.sin(x)\n    return x\n",
    );
    assert!(made.iter().any(|op| op == "Loop"), "{made:?}");
}

#[test]
fn product_along_an_axis_is_not_one_of_another_dtype() {
    let made =
        operators("x: Tensor) -> Tensor:\n    return torch.prod(torch.reshape(x, [-1, 1, 1, 4]), 3)\n");
    assert!(made.iter().any(|op| op == "ReduceProd") && !made.iter().any(|op| op == "Cast"), "{made:?}");
}

#[test]
fn constant_numbers_are_outputs() {
    let sandbox = Sandbox::new(&[]);
    write(
        &sandbox,
        "x: Tensor) -> Tuple[int, Tensor, float]:\n    return (torch.size(x, 1), torch.neg(x), 2.5)\n",
    );
    let (status, messages, model) = converted(&sandbox, "net.pt", &["x=batch,4"]);
    assert_eq!(status, 0, "{messages}");
    let model = model.expect("a model was written");
    assert_eq!(model.graphs[model.main].outputs.len(), 3);
}

#[test]
fn declared_shapes_are_those_of_inputs() {
    for (shapes, why) in [
        (["x=batch,4", "y=2"], "no input `y`"),
        (["x=batch,4", "x=2,4"], "declared twice"),
        (["x=batch-1,4", "x=2,4"], "neither a size nor a name"),
    ] {
        let sandbox = Sandbox::new(&[]);
        write(&sandbox, "x: Tensor) -> Tensor:\n    return torch.neg(x)\n");
        let (status, messages, model) = converted(&sandbox, "net.pt", &shapes);
        assert!(status > 0 && model.is_none() && messages.contains(why), "{messages}");
    }
}

#[test]
fn archive_is_linted_like_a_printed_graph() {
    let sandbox = Sandbox::new(&[]);
    write(&sandbox, "x: Tensor) -> Tensor:\n    return torch.dropout(x, 0.5, True)\n");
    let training = sandbox.lint(&["net.pt"]);
    assert!(training.status == 1 && training.stdout.contains("[EXP010]"), "{training:?}");
    for name in ["convolution", "attention", "flow"] {
        let file = format!("{name}.pt");
        sandbox.bring(&format!("tests/models/archives/{file}"), &file);
        let clean = sandbox.lint(&[&file]);
        assert!(clean.status == 0 && !clean.stdout.contains('['), "{name}: {clean:?}");
    }
}
