//! What `onnx-fix` says of programs of `torch.export`, converted or refused.

use onnx_lint::graph::{Def, ElemType, Model, Port, TypeKind};

use crate::tool::{Sandbox, snapshot};

/// What is said of a program, with the model that came of it, if one did.
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
fn what_cannot_be_written_is_refused_with_a_reason() {
    for name in ["einsum_alias", "as_strided_w", "bn_train", "foreach", "real_write", "whole_conv"] {
        let (status, said, model) = converted(&format!("{name}.pt2"));
        assert_eq!((status, model.is_some()), (1, false), "{name}: {said}");
        snapshot("programs", name, &said);
    }
}

#[test]
fn what_is_drawn_at_random_is_drawn_each_time() {
    let (status, said, model) = converted("random.pt2");
    assert_eq!(status, 0, "{said}");
    let model = model.expect("it was made");
    let drawn = model.nodes.iter().filter(|(_, node)| &*node.op_type == "RandomUniformLike").count();
    // Two of the same size, what is dropped, whole numbers, and an order.
    assert_eq!(drawn, 5);
    let main = &model.graphs[model.main];
    let elem = |port: &Port| match &port.info.ty.as_ref()?.kind {
        TypeKind::Tensor { elem, .. } => elem.and_then(ElemType::from_number),
        _ => None,
    };
    let types: Vec<_> = main.outputs.iter().map(elem).collect();
    assert_eq!(types, [ElemType::Float16, ElemType::Int64, ElemType::Int64].map(Some));
}

/// What is said of a printed graph with such weights; whether a model came of it.
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
fn a_printed_graph_and_its_weights_are_a_model() {
    for (name, weights) in
        [("conv", "conv.pth"), ("attention", "attention.safetensors"), ("writes", "writes.pt")]
    {
        let (status, said, made) = traced(&Sandbox::new(&[]), &format!("{name}.torchir.txt"), Some(weights));
        assert!(status == 0 && made, "{name}: {said}");
    }
}

#[test]
fn a_printed_graph_that_cannot_be_converted_is_refused_with_a_reason() {
    for (name, graph, weights) in [
        ("loop", "loop.torchir.txt", None),
        ("no_weights", "writes.torchir.txt", None),
        ("other_weights", "writes.torchir.txt", Some("conv.pth")),
        ("no_types", "writes.pt", None),
        ("no_graph", "conv.pth", None),
        ("no_state", "writes.torchir.txt", Some("writes.torchir.txt")),
        ("not_printed", "writes.pt", Some("conv.pth")),
    ] {
        let (status, said, made) = traced(&Sandbox::new(&[]), graph, weights);
        assert!(status > 0 && !made, "{name}: {said}");
        snapshot("programs", name, &said);
    }
}

#[test]
fn a_pickle_that_wants_to_run_something_is_refused() {
    let sandbox = Sandbox::new(&[]);
    let mut zip = zip::ZipWriter::new(std::fs::File::create(sandbox.path("bad.pth")).expect("a file"));
    zip.start_file("net/data.pkl", zip::write::SimpleFileOptions::default()).expect("an entry");
    let pickle = b"\x80\x02}X\x05\x00\x00\x00scalecos\nsystem\nX\x04\x00\x00\x00exit\x85Rs.";
    std::io::Write::write_all(&mut zip, pickle).expect("its content");
    zip.finish().expect("an archive");
    let (status, said, made) = traced(&sandbox, "writes.torchir.txt", Some("bad.pth"));
    assert!(status == 2 && !made, "{said}");
    snapshot("programs", "running_pickle", &said);
}

/// What is said of how a program cannot be converted, without its level.
fn refusals(said: &str) -> Vec<&str> {
    said.lines().filter_map(|line| line.split_once("[OPV006]: ").map(|(_, message)| message)).collect()
}

#[test]
fn lint_says_beforehand_what_fix_refuses() {
    for name in ["einsum_alias", "as_strided_w", "bn_train", "foreach", "real_write", "whole_conv"] {
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
fn lint_says_nothing_of_the_kind_where_fix_converts() {
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
fn an_input_that_is_written_into_is_said() {
    let (status, said, model) = converted("input_written.pt2");
    assert_eq!((status, model.is_some()), (0, true));
    snapshot("programs", "input_written", &said);
}

#[test]
fn what_a_module_keeps_is_an_input_with_a_default_and_an_output() {
    for name in ["buffers.pt2", "buffers.dec.pt2"] {
        let (status, said, model) = converted(name);
        assert_eq!(status, 0, "{said}");
        let model = model.expect("it was made");
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
