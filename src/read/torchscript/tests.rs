use super::read;
use crate::torch::{Argument, Definition, Origin, Trace, Type, User};

/// Returns one short line per node of a trace, for comparison.
fn summary(trace: &Trace) -> Vec<String> {
    let argument = |argument: &Argument| match trace.see(argument) {
        Argument::Value(value) => format!("%{}", trace.value(*value).name),
        literal => format!("{literal:?}"),
    };
    let nodes = trace.nodes().filter(|(_, node)| &*node.op.name != "Constant");
    nodes
        .map(|(_, node)| {
            let inputs: Vec<_> = node.inputs.iter().map(|input| argument(&input.argument)).collect();
            format!("{}({})", node.op, inputs.join(", "))
        })
        .collect()
}

fn check(text: &str, expected: &[&str]) {
    let (traces, findings) = read(text);
    assert_eq!(traces.iter().flat_map(summary).collect::<Vec<_>>(), expected);
    assert_eq!(findings, []);
}

#[test]
fn constants_lists_scopes_and_sources_are_read() {
    let text = "graph(%self.1 : __torch__.net.Net,\n      %x : Float(2, 4, strides=[4, 1], requires_grad=0, device=cpu)):\n  \
        %fc : __torch__.torch.nn.Linear = prim::GetAttr[name=\"fc\"](%self.1)\n  \
        %2 : int = prim::Constant[value=2](), scope: __module.fc # /app/net.py:7:0\n  \
        %3 : int[] = prim::ListConstruct(%2, %2), scope: __module.fc\n  \
        %y : Float(2, 2), %z : Float(2, 2) = aten::split_with_sizes(%x, %3), scope: __module.fc # /app/net.py:7:0\n  \
        %8 : (Float(2, 2), Float(2, 2)) = prim::TupleConstruct(%y, %z)\n  return (%8)\n";
    check(
        text,
        &[
            "prim::GetAttr(%self.1)",
            "prim::ListConstruct(Int(2), Int(2))",
            "aten::split_with_sizes(%x, List([Value(ValueId(3)), Value(ValueId(3))]))",
            "prim::TupleConstruct(%y, %z)",
        ],
    );
    let (traces, _) = read(text);
    let trace = &traces[0];
    assert_eq!(trace.class.as_deref(), Some("net.Net"));
    let node = &trace.nodes[3];
    assert_eq!(
        (&*node.scope, node.source.as_ref().map(|s| (&*s.file, s.line))),
        ("/fc", Some(("/app/net.py", 7)))
    );
    assert_eq!(&trace.text[node.span.0..node.span.1], text.lines().nth(5).map_or("", str::trim));
    let x = trace.inputs().next().expect("an input");
    assert_eq!(trace.value(x).users, [User::Node(crate::torch::NodeId(3))]);
}

#[test]
fn nested_blocks_are_read_in_both_styles() {
    let expected =
        ["prim::Loop(Int(3), Bool(true), %x)", "aten::lt(%i, Int(3))", "prim::If(%c)", "aten::neg(%a)"];
    let colon = "graph(%x : Tensor):\n  %n : int = prim::Constant[value=3]()\n  %t : bool = prim::Constant[value=1]()\n  \
        %y : Tensor = prim::Loop(%n, %t, %x) # a.py:3:4\n    block0(%i : int, %a : Tensor):\n      \
        %c : bool = aten::lt(%i, %n)\n      %b : Tensor = prim::If(%c)\n        block0():\n          \
        %d : Tensor = aten::neg(%a)\n          -> (%d)\n        block1():\n          -> (%a)\n      -> (%t, %b)\n  return (%y)\n";
    check(colon, &expected);
    let braces = colon.replace("):\n", ") {\n").replace("  -> (%t, %b)\n", "  -> (%t, %b)\n    }\n");
    check(&braces, &expected);
    let (traces, _) = read(colon);
    let trace = &traces[0];
    assert_eq!(trace.blocks.len(), 4);
    assert_eq!(trace.blocks[1].inputs.len(), 2);
    assert_eq!(
        trace.blocks[1].owner.map(|node| trace.node(node).op.to_string()).as_deref(),
        Some("prim::Loop")
    );
    assert!(matches!(
        trace.value(trace.blocks[1].inputs[1]).definition,
        Definition::Input(crate::torch::BlockId(1), 1)
    ));
}

#[test]
fn onnx_graphs_in_a_log_are_found() {
    let text = "a warning\nExported graph: graph(%in0 : Float(*, 6, strides=[6, 1])):\n  \
        %/C_output_0 : Long(2, strides=[1]) = onnx::Constant[value= 3 -1 [ CPULongType{2} ], onnx_name=\"/C\"](), scope: net.Net:: # /app/net.py:25:0\n  \
        %3 : Float(*, *) = onnx::Reshape[allowzero=0, onnx_name=\"/Reshape\"](%in0, %/C_output_0), scope: net.Net::/net.Block::b # /app/net.py:25:0\n  \
        return (%3)\n\nTraceback (most recent call last):\n";
    let (traces, findings) = read(text);
    assert_eq!(findings, []);
    assert_eq!(
        (traces[0].origin, &*traces[0].title, traces[0].nodes[0].line),
        (Origin::OnnxDialect, "Exported graph", 3)
    );
    assert_eq!(&*traces[0].nodes[1].scope, "/b");
    let Argument::Tensor(shape) = traces[0].see(&traces[0].nodes[1].inputs[1].argument) else {
        panic!("no tensor")
    };
    assert_eq!(shape.elements.as_deref(), Some(&[3.0, -1.0][..]));
}

#[test]
fn python_functions_and_nodes_without_outputs_are_read() {
    check(
        "graph(%x : Tensor):\n  %2 : Tensor = ^Square[inplace=0, module=\"net\", Subgraph=<Graph>](1, \"a\")(%x) # /app/net.py:9:0\n   \
         = prim::SetAttr[name=\"y\"](%x, %2)\n  return (%2)\n",
        &["Square(%x)", "prim::SetAttr(%x, %2)"],
    );
}

#[test]
fn graphs_of_early_releases_are_read() {
    let text = "graph(%actual_input_1 : Float(10, 3)\n      %learned_0 : Float(4, 3)) {\n  %17 : Float(10, 4)\n      \
        = onnx::Gemm[alpha=1, transB=1](%actual_input_1, %learned_0), scope: Net/Linear[fc]\n  return (%17);\n}\n";
    check(text, &["onnx::Gemm(%actual_input_1, %learned_0)"]);
    let (traces, _) = read(text);
    assert_eq!((traces[0].inputs().count(), &*traces[0].nodes[0].scope), (2, "/fc"));
}

#[test]
fn constants_can_span_lines() {
    check(
        "graph(%x : Tensor):\n  %2 : Long(2, 1) = prim::Constant[value= 1\n 2\n[ CPULongType{2,1} ]]() # a.py:1:0\n  \
         %3 : Tensor = aten::add(%x, %2)\n  return (%3)\n",
        &[
            "aten::add(%x, Tensor(TensorLiteral { elem: Some(Int64), shape: Some([2, 1]), elements: Some([1.0, 2.0]) }))",
        ],
    );
}

#[test]
fn time_stamps_before_lines_are_skipped() {
    check(
        "2024-05-06T07:08:09.1234567Z graph(%x : Tensor):\n2024-05-06T07:08:09.1234567Z   %2 : Tensor = aten::neg(%x)\n\
         2024-05-06T07:08:10.1234567Z   return (%2)\n",
        &["aten::neg(%x)"],
    );
}

/// Checks the nodes that are read from damaged graphs, and the messages with their lines.
fn check_damaged(text: &str, nodes: &[&str], messages: &[(&str, u32)]) {
    let (traces, findings) = read(text);
    assert_eq!(traces.iter().flat_map(summary).collect::<Vec<_>>(), nodes, "{text}");
    let line = |finding: &crate::diag::Finding| match &finding.place {
        crate::diag::Place::Text(place) => place.line,
        _ => 0,
    };
    let found: Vec<_> = findings.iter().map(|finding| (&*finding.message, line(finding))).collect();
    assert_eq!(found, messages, "{text}");
}

#[test]
fn damaged_graphs_are_read_in_part() {
    let one = "a line of the TorchScript graph could not be parsed";
    let cut = "the TorchScript graph ends without a `return`";
    check_damaged(
        "graph(%x : Tensor):\n  %1 : Tensor = aten::neg(%x\n  %2 : Tensor = aten::abs(%x)\n  return (%2)\n",
        &["aten::abs(%x)"],
        &[(one, 2)],
    );
    check_damaged(
        "graph(%x : Tensor):\n  %1 : Long(2) = prim::Constant[value= 1 [ CPU\n  %2 : Tensor = aten::abs(%1)\n  return (%2)\n",
        &["aten::abs(%1)"],
        &[(one, 2)],
    );
    check_damaged(
        "\ngraph(%x : Tensor):\n  %1 : Tensor = aten::neg(%x)\nTraceback\n  more\n",
        &["aten::neg(%x)"],
        &[(cut, 3)],
    );
    check_damaged("graph(%x", &[], &[(cut, 1)]);
    check_damaged(
        "graph(%x : Tensor):\n  -> (%x)\n  block0():\n  return (%x)\n",
        &[],
        &[("2 lines of the TorchScript graph could not be parsed", 2)],
    );
}

#[test]
fn truncated_text_does_not_panic() {
    let text = "graph(%self : __torch__.N, %x : Float(2, 4)):\n  %1 : int = prim::Constant[value=\"ä\\\"\"]() # ä.py:1:0\n  \
        %y : Tensor = prim::If(%1)\n    block0():\n      -> (%x)\n  %z : Long(2) = prim::Constant[value= 1  2 [ CPULongType{2} ]]()\n  \
        return (%y, %z)\n";
    for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
        read(&text[..at]);
        read(&text[at..]);
        let hole: String =
            text.char_indices().filter(|&(index, _)| index != at).map(|(_, char)| char).collect();
        read(&hole);
    }
}

#[test]
fn an_undefined_value_is_missing_not_an_input() {
    let (traces, _) = read("graph(%x : Tensor):\n  %1 : Tensor = aten::add(%x, %gone)\n  return (%1)\n");
    let gone = traces[0].values.iter().find(|value| &*value.name == "gone").expect("the value");
    assert_eq!((gone.definition, &gone.ty), (Definition::Missing, &Type::Other("".into())));
}
