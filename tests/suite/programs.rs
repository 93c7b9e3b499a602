//! What `onnx-fix` says of programs of `torch.export`, converted or refused.

use onnx_lint::graph::{Def, Model};

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
    for name in ["einsum_alias", "as_strided_w", "bn_train", "foreach", "real_write"] {
        let (status, said, model) = converted(&format!("{name}.pt2"));
        assert_eq!((status, model.is_some()), (1, false), "{name}: {said}");
        snapshot("programs", name, &said);
    }
}

/// What is said of how a program cannot be converted, without its level.
fn refusals(said: &str) -> Vec<&str> {
    said.lines().filter_map(|line| line.split_once("[OPV006]: ").map(|(_, message)| message)).collect()
}

#[test]
fn lint_says_beforehand_what_fix_refuses() {
    for name in ["einsum_alias", "as_strided_w", "bn_train", "foreach", "real_write"] {
        let name = format!("{name}.pt2");
        let sandbox = Sandbox::new(&[]);
        sandbox.bring(&format!("tests/models/programs/{name}"), &name);
        let (_, refused, _) = converted(&name);
        let free = sandbox.lint(&[&name]);
        assert_eq!(refusals(&free.stdout), refusals(&refused), "{name}");
        assert!(!refusals(&refused).is_empty() && free.stdout.contains("warning[OPV006]"), "{name}");
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
