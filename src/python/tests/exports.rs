//! Tests of exports whose file differs from the model: constants, states, names and opsets.

use super::*;

/// Checks a script: the bodies of `__init__` and `forward` of its model, and its statements.
#[track_caller]
fn check_export(init: &str, parameters: &str, body: &str, statements: &str) {
    let init = format!("super().__init__()\n{init}");
    check(&format!("{}\n\n{statements}\n", forward(&init, parameters, body)));
}

#[test]
fn inputs_whose_shape_changes_in_place_are_reported() {
    let export =
        |dynamo: &str| format!("torch.onnx.export(Net(), torch.randn(3, 4), 'net.onnx', dynamo={dynamo})");
    check_export("", "x", "x.unsqueeze_(1)  #! in-place-shape-alias\nreturn x * 2", &export("True"));
    check_export("", "x", "x = x.relu()\nx.unsqueeze_(1)\nreturn x * 2", &export("True"));
    check_export("", "x", "x.unsqueeze_(1)\nreturn x * 2", &export("False"));
    let resized = "y = x.clone()\ny.resize_(2, 6)  #! in-place-shape-alias\nreturn y * 2";
    check_export("", "x", resized, &export("False"));
}

#[test]
fn scripted_modules_keep_their_loops() {
    let body = "y = x[:, 0]\nfor t in range(x.size(1)):MARK\n    y = y * 0.5 + x[:, t]\nreturn y";
    let export = |model: &str| {
        format!(
            "torch.onnx.export({model}, (torch.randn(2, 5),), 'net.onnx', dynamo=False, input_names=['x'],\n    \
             dynamic_axes={{'x': {{1: 't'}}}})"
        )
    };
    check_export("", "x", &body.replace("MARK", "  #! unrolled-loop"), &export("Net()"));
    let scripted = export("torch.jit.script(Net())");
    let text =
        format!("{PRELUDE}{}\n\n{scripted}\n", forward("super().__init__()", "x", &body.replace("MARK", "")));
    let findings = lint(&text, "net.py", &SourceFiles::default());
    assert!(findings.iter().all(|finding| finding.level < Level::Warning), "{findings:?}");
}

#[test]
fn inputs_that_become_numbers_are_reported() {
    let example = "(torch.randn(5, 4), torch.tensor([2, 3]))";
    let names = "input_names=['x', 'sizes'], dynamo=False";
    let export = &format!("torch.onnx.export(Net(), {example}, 'net.onnx', {names})");
    check_export(
        "",
        "x, sizes",
        "a, b = x.split(sizes.tolist())  #! item-baked\nreturn a.sum(0) + b.sum(0)",
        &format!("{export}  #! unused-input"),
    );
    let body = "a, b = x.split(sizes.tolist())  #! item-baked\nreturn a.sum(0) + b.sum(0) + sizes.sum()";
    check_export("", "x, sizes", body, export);
}

#[test]
fn state_of_an_earlier_call_is_reported() {
    let init = "self.mean = None";
    let body =
        |mark: &str| format!("if self.mean is None:\n    self.mean = x.mean(0)\nreturn x - self.mean{mark}");
    let export = "torch.onnx.export(net, torch.randn(3, 4), 'net.onnx', dynamo=False)";
    let earlier = format!("net = Net()\nprint(net(torch.randn(3, 4)).shape)\n{export}");
    check_export(init, "x", &body("  #? item-baked"), &earlier);
    check_export(init, "x", &body(""), &format!("net = Net()\n{export}"));
}

#[test]
fn names_in_another_order_than_the_keys_are_reported() {
    let body = "return {'mask': x.relu(), 'edge': x.abs()}  #? dict-output";
    let export = |names: &str, mark: &str| {
        format!("torch.onnx.export(Net(), torch.randn(3, 4), 'net.onnx', output_names=[{names}]){mark}")
    };
    check_export("", "x", body, &export("'edge', 'mask'", "  #! output-order"));
    check_export("", "x", body, &export("'mask', 'edge'", ""));
    check_export("", "x", body, &export("'a', 'b'", ""));
}

#[test]
fn programs_without_weights_are_reported() {
    let save = |option: &str| {
        format!(
            "program = torch.onnx.export(Net(), torch.randn(3, 4), dynamo=True)\nprogram.save('net.onnx'{option}"
        )
    };
    check_export("", "x", "return x * 2", &save(", include_initializers=False)  #! weights-left-out"));
    check_export("", "x", "return x * 2", &save(")"));
}

#[test]
fn numbers_of_a_program_are_no_inputs_of_a_session() {
    let script = |name: &str, mark: &str| {
        format!(
            "import onnxruntime as ort\nprogram = torch.export.export(Net(), (torch.randn(3, 4),), kwargs={{'n': 2}})  #! constant-input\n\
             torch.onnx.export(program, f='net.onnx', input_names=['x', 'n'])\n\
             session = ort.InferenceSession('net.onnx')\n\
             session.run(None, {{'x': np.zeros((3, 4), 'f'), '{name}': np.array(2)}}){mark}"
        )
    };
    check_export("", "x, n", "return x[:n]", &script("n", "  #! unused-input"));
}

#[test]
fn opsets_that_the_exporter_keeps_are_reported() {
    let export = |opset: u32, mark: &str| {
        format!(
            "torch.onnx.export(Net(), torch.randn(3, 4), 'net.onnx', dynamo=True, opset_version={opset}){mark}"
        )
    };
    let init = "self.norm = nn.LayerNorm(4)";
    check_export(init, "x", "return self.norm(x)", &export(16, "  #! unsupported-opset"));
    check_export(init, "x", "return self.norm(x)", &export(17, "  #? unsupported-opset"));
    check_export("", "x", "return x.relu()", &export(16, "  #? unsupported-opset"));
}

#[test]
fn paths_with_another_suffix_are_followed() {
    let export = |rest: &str, mark: &str| {
        format!(
            "from pathlib import Path\nfor tag in ['net.a', 'net.b']:\n    path = (Path('out') / tag){rest}\n    \
             torch.onnx.export(nn.Linear(3, 4), torch.randn(2, 3), path, dynamo=False){mark}"
        )
    };
    check(&format!("{}\n", export(".with_suffix('.onnx')", "  #! overwritten-file")));
    check(&format!("{}\n", export("", "")));
}

#[test]
fn wrappers_and_models_are_known_by_all_their_names() {
    let parallel = "from torch.nn.parallel import DataParallel\n\
                    torch.onnx.export(DataParallel(nn.Linear(3, 4)), torch.randn(2, 3), 'net.onnx', dynamo=False)";
    check(&format!("{parallel}  #! unsupported-wrapper\n"));
    let inception = |size: u32, mark: &str| {
        format!(
            "import torchvision\nnet = torchvision.models.inception_v3(aux_logits=False).eval(){mark}\n\
             torch.onnx.export(net, torch.randn(1, 3, {size}, {size}), 'net.onnx', dynamo=False)"
        )
    };
    check(&format!("{}  #! shape-mismatch\n", inception(74, "")));
    check(&format!("{}\n", inception(75, "")));
}

#[test]
fn windows_larger_than_their_axis_are_reported() {
    check("torch.randn(2, 8).unfold(-1, 9, 1)  #! shape-mismatch\ntorch.randn(2, 8).unfold(-1, 8, 1)\n");
}

#[test]
fn models_that_become_float32_promote_nothing() {
    let init = "self.register_buffer('knots', torch.from_numpy(np.linspace(0, 1, 4)))";
    let export =
        |cast: &str| format!("torch.onnx.export(Net(){cast}, torch.randn(3, 4), 'net.onnx', dynamo=False)");
    let body = |mark: &str| format!("return x - self.knots{mark}");
    check_export(init, "x", &body("  #? float64-promotion"), &export(".float()"));
    check_export(init, "x", &body("  #! float64-promotion"), &export(""));
}
