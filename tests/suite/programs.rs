//! Conversion and refusal of `torch.export` programs and TorchScript graphs by `onnx-fix`.

use onnx_lint::graph::{Def, ElemType, Model, Port, TypeKind};

use crate::tool::{Sandbox, snapshot};

/// Converts a program; returns the exit status, messages, and the model, if any.
fn converted(name: &str) -> (i32, String, Option<Model>) {
    let sandbox = Sandbox::new(&[]);
    sandbox.bring(&format!("tests/models/programs/{name}"), name);
    let ran = sandbox.fix(&[name, "-o", "out.onnx"]);
    let made = sandbox.path("out.onnx");
    let model =
        made.exists().then(|| onnx_lint::open(&made).unwrap_or_else(|faults| panic!("{faults:?}")).model);
    (ran.status, ran.stderr, model)
}

#[test]
fn unsupported_programs_are_refused_with_a_reason() {
    let names = [
        "einsum_alias",
        "as_strided_w",
        "bn_train",
        "foreach",
        "real_write",
        "bytes_resized",
        "vmap_view_write",
        "vmap_random",
        "autocast_mixed",
        "large_inverse",
    ];
    for name in names {
        let (status, messages, model) = converted(&format!("{name}.pt2"));
        assert_eq!((status, model.is_some()), (1, false), "{name}: {messages}");
        snapshot("programs", name, &messages);
    }
}

#[test]
fn random_operators_are_not_merged_or_folded() {
    let (status, messages, model) = converted("random.pt2");
    assert_eq!(status, 0, "{messages}");
    let model = model.expect("a model was written");
    let drawn = model.nodes.iter().filter(|(_, node)| &*node.op_type == "RandomUniformLike").count();
    // The program draws two tensors of equal size, dropout, random integers, and a permutation.
    assert_eq!(drawn, 5);
    let main = &model.graphs[model.main];
    let elem = |port: &Port| match &port.info.ty.as_ref()?.kind {
        TypeKind::Tensor { elem, .. } => elem.and_then(ElemType::from_number),
        _ => None,
    };
    let types: Vec<_> = main.outputs.iter().map(elem).collect();
    assert_eq!(types, [ElemType::Float16, ElemType::Int64, ElemType::Int64].map(Some));
}

/// Converts a printed graph, with optional weights.
/// Returns exit status, messages, and whether a model was written.
fn traced(sandbox: &Sandbox, graph: &str, weights: Option<&str>) -> (i32, String, bool) {
    sandbox.bring(&format!("tests/models/traced/{graph}"), graph);
    let mut arguments = vec![graph, "-o", "out.onnx"];
    if let Some(weights) = weights {
        if !sandbox.path(weights).exists() {
            sandbox.bring(&format!("tests/models/traced/{weights}"), weights);
        }
        arguments.extend(["--weights", weights]);
    }
    let ran = sandbox.fix(&arguments);
    (ran.status, ran.stderr, sandbox.path("out.onnx").exists())
}

#[test]
fn printed_graph_with_weights_is_converted() {
    for (name, weights) in
        [("conv", "conv.pth"), ("attention", "attention.safetensors"), ("writes", "writes.pt")]
    {
        let (status, messages, made) =
            traced(&Sandbox::new(&[]), &format!("{name}.torchir.txt"), Some(weights));
        assert!(status == 0 && made, "{name}: {messages}");
    }
}

#[test]
fn unsupported_printed_graph_is_refused_with_a_reason() {
    for (name, graph, weights) in [
        ("loop", "loop.torchir.txt", None),
        ("no_weights", "writes.torchir.txt", None),
        ("other_weights", "writes.torchir.txt", Some("conv.pth")),
        ("no_graph", "conv.pth", None),
        ("no_state", "writes.torchir.txt", Some("writes.torchir.txt")),
        ("not_printed", "writes.pt", Some("conv.pth")),
    ] {
        let (status, messages, made) = traced(&Sandbox::new(&[]), graph, weights);
        assert!(status > 0 && !made, "{name}: {messages}");
        snapshot("programs", name, &messages);
    }
}

#[test]
fn text_without_a_readable_graph_is_refused() {
    let sandbox = Sandbox::new(&[("cut.torchir.txt", "graph(\n")]);
    let ran = sandbox.fix(&["cut.torchir.txt", "-o", "out.onnx"]);
    assert!(ran.status == 2 && ran.stderr.contains("this text has no readable graph"), "{ran:?}");
}

#[test]
fn pickle_that_executes_code_is_rejected() {
    let sandbox = Sandbox::new(&[]);
    let mut zip = zip::ZipWriter::new(std::fs::File::create(sandbox.path("bad.pth")).expect("a file"));
    zip.start_file("net/data.pkl", zip::write::SimpleFileOptions::default()).expect("an entry");
    let pickle = b"\x80\x02}X\x05\x00\x00\x00scalecos\nsystem\nX\x04\x00\x00\x00exit\x85Rs.";
    std::io::Write::write_all(&mut zip, pickle).expect("its content");
    zip.finish().expect("an archive");
    let (status, messages, made) = traced(&sandbox, "writes.torchir.txt", Some("bad.pth"));
    assert!(status == 2 && !made, "{messages}");
    snapshot("programs", "running_pickle", &messages);
}

/// Returns the reasons why a program cannot be converted, without levels.
fn refusals(messages: &str) -> Vec<&str> {
    messages.lines().filter_map(|line| line.split_once("[OPV006]: ").map(|(_, message)| message)).collect()
}

#[test]
fn lint_reports_the_refusals_of_fix() {
    let names = [
        "einsum_alias",
        "as_strided_w",
        "bn_train",
        "foreach",
        "real_write",
        "bytes_resized",
        "vmap_view_write",
        "vmap_random",
        "autocast_mixed",
        "large_inverse",
    ];
    for name in names {
        let name = format!("{name}.pt2");
        let sandbox = Sandbox::new(&[]);
        sandbox.bring(&format!("tests/models/programs/{name}"), &name);
        let (_, refused, _) = converted(&name);
        let free = sandbox.lint(&[&name]);
        assert_eq!(refusals(&free.stdout), refusals(&refused), "{name}");
        assert!(!refusals(&refused).is_empty() && free.stdout.contains("info[OPV006]"), "{name}");
        let bound = sandbox.lint(&[&name, "--opset", "18"]);
        assert!(bound.status == 1 && bound.stdout.contains("error[OPV006]"), "{name}: {}", bound.stdout);
    }
}

#[test]
fn lint_and_fix_report_the_same_refusals_at_each_opset() {
    for name in ["buffers.pt2", "buffers.dec.pt2", "input_written.pt2"] {
        let sandbox = Sandbox::new(&[]);
        sandbox.bring(&format!("tests/models/programs/{name}"), name);
        for opset in [None, Some("13"), Some("7")] {
            let target: Vec<&str> = opset.into_iter().flat_map(|opset| ["--opset", opset]).collect();
            let linted = sandbox.lint(&[&[name][..], &target].concat());
            let fixed = sandbox.fix(&[&[name, "-o", "out.onnx"][..], &target].concat());
            assert_eq!(refusals(&linted.stdout), refusals(&fixed.stderr), "{name} {opset:?}");
            assert_eq!(fixed.status, i32::from(!refusals(&fixed.stderr).is_empty()), "{name} {opset:?}");
        }
    }
}

#[test]
fn in_place_write_to_an_input_is_reported() {
    let (status, messages, model) = converted("input_written.pt2");
    assert_eq!((status, model.is_some()), (0, true));
    snapshot("programs", "input_written", &messages);
}

#[test]
fn mutated_buffers_become_inputs_with_defaults_and_outputs() {
    for name in ["buffers.pt2", "buffers.dec.pt2"] {
        let (status, messages, model) = converted(name);
        assert_eq!(status, 0, "{messages}");
        let model = model.expect("a model was written");
        let main = &model.graphs[model.main];
        let called = |value| model.values[value].name.to_string();
        let inputs: Vec<String> = main.inputs.iter().map(|port| called(port.value)).collect();
        let outputs: Vec<String> = main.outputs.iter().map(|port| called(port.value)).collect();
        assert_eq!(inputs, ["x", "b_n", "b_cache"], "{name}");
        assert_eq!(outputs[1..], ["b_n_next", "b_cache_next"], "{name}");
        let has_default = |name: &str| {
            let port = main.inputs.iter().find(|port| called(port.value) == name);
            port.is_some_and(|port| {
                let value = &model.values[port.value];
                matches!(value.def, Def::Input(_)) && value.initial.is_some()
            })
        };
        assert!(has_default("b_n") && has_default("b_cache") && !has_default("x"), "{name}");
    }
}
