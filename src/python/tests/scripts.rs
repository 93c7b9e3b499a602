//! Tests of whole scripts: the model runs on the example of the export.

use super::*;

/// Checks a script: the bodies of `__init__` and `forward(self, x)` of its model, and its statements.
#[track_caller]
fn check_model(init: &str, body: &str, statements: &str) {
    let init = format!("super().__init__()\n{init}");
    check(&format!("{}\n\n{statements}\n", forward(&init, "x", body)));
}

#[test]
fn layers_that_do_not_fit_the_example_are_reported() {
    check_model(
        "self.fc = nn.Linear(10, 5)",
        "return self.fc(x) #! shape-mismatch",
        "torch.onnx.export(Net(), torch.randn(2, 3), 'net.onnx')",
    );
    check_model(
        "self.conv = nn.Conv2d(3, 8, 3)",
        "return self.conv(x) #! shape-mismatch",
        "def main():\n    net = Net().eval()\n    torch.onnx.export(net, (torch.ones(1, 3, 1, 1),), 'net.onnx')\n\n\n\
         if __name__ == '__main__':\n    main()",
    );
    check_model(
        "self.conv = nn.Conv2d(3, 8, 3, padding=1)",
        "return self.conv(x)",
        "torch.onnx.export(Net(), torch.ones(1, 3, 1, 1), 'net.onnx')",
    );
}

#[test]
fn values_of_configurations_and_arguments_are_followed() {
    check_model(
        "self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])",
        "for layer in self.layers:\n    x = layer(x) #! shape-mismatch\nreturn x",
        "import argparse\nparser = argparse.ArgumentParser()\n\
         parser.add_argument('--width', type=int, default=5)\nargs = parser.parse_args()\n\
         config = {'size': (2, args.width)}\n\
         torch.onnx.export(Net(), torch.randn(*config['size']), 'net.onnx')",
    );
}

#[test]
fn unknown_values_are_not_reported() {
    for example in ["load()", "torch.randn(2, load())", "torch.load('x.pt')", "torch.randn(*load())"] {
        check_model(
            "self.fc = nn.Linear(10, 5)",
            "return self.fc(x)",
            &format!("from elsewhere import load\ntorch.onnx.export(Net(), {example}, 'net.onnx')"),
        );
    }
    check_model(
        "self.fc = nn.Linear(10, 5)",
        "return self.fc(x)",
        "from elsewhere import adapt\nnet = Net()\nadapt(net)\ntorch.onnx.export(net, torch.randn(2, 3), 'net.onnx')",
    );
}

#[test]
fn handled_exceptions_are_not_reported() {
    check_model(
        "self.fc = nn.Linear(10, 5)",
        "return self.fc(x)",
        "try:\n    Net()(torch.randn(2, 3))\nexcept RuntimeError:\n    print('as expected')",
    );
}

#[test]
fn dtypes_and_devices_are_followed() {
    check_model(
        "self.fc = nn.Linear(10, 5)",
        "return self.fc(x) #! dtype-mismatch",
        "torch.onnx.export(Net(), torch.randn(2, 10).half(), 'net.onnx')",
    );
    check_model(
        "self.fc = nn.Linear(10, 5)",
        "return self.fc(x)",
        "torch.onnx.export(Net().half(), torch.randn(2, 10, dtype=torch.float16), 'net.onnx')",
    );
    check_model(
        "self.fc = nn.Linear(10, 5)",
        "return self.fc(x)",
        "net = Net().to('cuda')\ntorch.onnx.export(net, torch.randn(2, 10), 'net.onnx') #! device-mismatch",
    );
    check_model(
        "self.table = nn.Embedding(10, 5)",
        "return self.table(x) #! index-out-of-range",
        "torch.onnx.export(Net(), torch.tensor([[1, 12]]), 'net.onnx')",
    );
}

#[test]
fn names_that_pytorch_does_not_have_are_reported() {
    check_model("", "return torch.scatter_(x, 1, x, 1.0) #! unknown-attribute", "");
    check_model("", "return x.scater(1, x, 1.0) #! unknown-attribute", "Net()(torch.zeros(1, 2))");
}

#[test]
fn sizes_that_a_trace_fixes_are_reported() {
    let export = |axes: &str| {
        format!(
            "torch.onnx.export(Net(), torch.randn(1, 4, 6), 'net.onnx', dynamo=False, input_names=['x'],\n    \
             dynamic_axes={{'x': {{{axes}}}}})"
        )
    };
    let batch = export("0: 'batch'");
    check_model("self.fc = nn.Linear(24, 2)", "return self.fc(x.view(1, -1)) #! baked-shape", &batch);
    check_model("self.fc = nn.Linear(24, 2)", "return self.fc(x.flatten(1))", &batch);
    let length = export("1: 'length'");
    check_model(
        "",
        "rows = []\nfor i in range(x.shape[1]): #! unrolled-loop\n    rows.append(x[:, i])\nreturn torch.stack(rows, 1)",
        &length,
    );
}

#[test]
fn operators_that_an_exporter_does_not_support_are_reported() {
    check_model(
        "",
        "return torch.linalg.svd(x)[0] #! unsupported-operator",
        "torch.onnx.export(Net(), torch.randn(4, 4), 'net.onnx')",
    );
}

#[test]
fn deep_calls_and_endless_loops_terminate() {
    let mut source = String::new();
    for at in 0..60 {
        let inner = format!("{}f{}(x){}", "(1 + (lambda y: y)(".repeat(6), at + 1, "))".repeat(6));
        source.push_str(&format!(
            "def f{at}(x):\n    for i in range(1):\n        if x:\n            with open('a'):\n                return [{inner} for _ in range(1)]\n"
        ));
    }
    check(&format!("{source}\nf0(1)\nwhile True:\n    pass\n"));
    check("x = [0]\nfor i in x:\n    x.append(i)\nwhile load():\n    x = [x, x]\n");
    check("class A(nn.Module):\n    def forward(self, x):\n        return self(x)\n\n\nA()(torch.ones(1))\n");
}

#[test]
fn loops_over_static_axes_are_remarks() {
    check_model(
        "",
        "rows = []\nfor i in range(x.shape[1]): #? unrolled-loop\n    rows.append(x[:, i])\nreturn torch.stack(rows, 1)",
        "torch.onnx.export(Net(), torch.randn(1, 4, 6), 'net.onnx', dynamo=False, input_names=['x'],\n    \
         dynamic_axes={'x': {0: 'batch'}})",
    );
}

#[test]
fn branches_on_data_are_errors_of_torch_export() {
    check_model(
        "",
        "if x.sum() > 0: #! traced-branch\n    return x\nreturn -x",
        "torch.onnx.export(Net(), torch.randn(2, 4), 'net.onnx', dynamo=True)",
    );
}

#[test]
fn models_with_lists_of_inputs_do_not_run_at_other_sizes() {
    check(
        "class Net(nn.Module):\n    def forward(self, x, others):\n        return torch.stack([x, *others], 1)\n\n\n\
         x = torch.randn(2, 3)\ntorch.onnx.export(Net(), (x, [x, x]), 'net.onnx', dynamo=False, \n    \
         input_names=['x', 'a', 'b'], dynamic_axes={'x': {0: 'n'}, 'a': {0: 'n'}, 'b': {0: 'n'}})\n",
    );
}

#[test]
fn branches_for_other_releases_are_not_reported() {
    for condition in
        ["torch.__version__.startswith('1.')", "hasattr(torch.onnx, 'dynamo_export')", "VERSION < (2, 0)"]
    {
        check_model(
            "self.fc = nn.Linear(3, 5)",
            "return self.fc(x)",
            &format!(
                "from config import VERSION\nx = torch.randn(2, 3)\nif {condition}:\n    \
                 torch.onnx.export(Net(), x, 'net.onnx', example_outputs=Net()(x))\nelse:\n    \
                 torch.onnx.export(Net(), x, 'net.onnx', dynamo=False)"
            ),
        );
    }
}

#[test]
fn names_of_inputs_skip_absent_ones() {
    check(
        "class Net(nn.Module):\n    def forward(self, x, context=None, mask=None):\n        \
         return x * mask[:, :, None]\n\n\n\
         torch.onnx.export(Net(), (torch.randn(2, 4, 8), None, torch.ones(2, 4)), 'net.onnx', dynamo=False,\n    \
         input_names=['x', 'mask'], dynamic_axes={'x': {0: 'n', 1: 't'}, 'mask': {0: 'n', 1: 't'}})\n",
    );
}

#[test]
fn arguments_of_wrappers_are_checked() {
    let check_calls = |calls: &str| {
        let imports = "from ultralytics import YOLO\nfrom optimum.exporters.onnx import main_export\n\n";
        check(&format!("{imports}yolo = YOLO('yolov8n.pt')\n{calls}\n"));
    };
    check_calls(
        "yolo.export(format='onnx', opset=17, dynamic=True, simplify=True, half=True, imgsz=(640, 480), nms=True)",
    );
    check_calls("yolo.export(format='engine', workspace=4)\nresults = yolo('bus.jpg')");
    check_calls("yolo.export('onnx')  #! removed-argument");
    check_calls("yolo.export(format='onnx', img_size=640)  #! removed-argument");
    check_calls("yolo.export(format='onnx', opset_version=12)  #! removed-argument");
    check_calls("yolo.export(format='onxx')  #! argument-type");
    check_calls("yolo.export(format='onnx', workspace=4)  #! argument-type");
    check_calls("yolo.export(format='onnx', opset=30)  #! unsupported-opset");
    check_calls("main_export('gpt2', 'out', task='text-generation-with-past', opset=14, sequence_length=32)");
    check_calls("main_export('gpt2', output='out', optimize='O4', device='cuda')");
    check_calls("main_export('gpt2', 'out', opset_version=14)  #! removed-argument");
    check_calls("main_export('gpt2', 'out', optimize='O5')  #! argument-type");
    check_calls("main_export('gpt2', 'out', optimize='O4')  #! argument-type");
    check_calls("main_export('gpt2', 'out', 'text-generation-with-past', monolith=True)  #! argument-type");
    check_calls("main_export('gpt2', 'out', opset=27)  #! unsupported-opset");
}

#[test]
fn rounded_sizes_are_fixed() {
    let export = "torch.onnx.export(Net(), torch.randn(2, 6), 'net.onnx', dynamo=False, input_names=['x'], \
        dynamic_axes={'x': {1: 't'}})";
    check_model(
        "pass",
        "n = math.ceil(x.shape[1] / 8) * 8  #! baked-shape\nreturn x.new_zeros(2, n)",
        export,
    );
    check_model("pass", "n = math.ceil(11 / 8) * 8\nreturn x.new_zeros(2, n)", export);
}

#[test]
fn operands_of_unsupported_dtypes_are_reported() {
    let example = "torch.onnx.export(Net(), torch.tensor([[1, 2], [3, 4]]), 'net.onnx')";
    for code in ["x.mean()", "x.softmax(-1)", "F.gelu(x)", "1 - (x > 0)", "x.masked_fill(x, 0)"] {
        check_model("", &format!("return {code} #! dtype-mismatch"), example);
    }
    for code in [
        "x.mean(dtype=torch.float32)",
        "x.float().softmax(-1)",
        "x.sum()",
        "F.relu(x)",
        "x.masked_fill(x > 0, 0)",
    ] {
        check_model("", &format!("return {code}"), example);
    }
    check_model("self.norm = nn.LayerNorm(2)", "return self.norm(x) #! dtype-mismatch", example);
}

#[test]
fn a_range_with_a_step_by_name_may_be_floating_point() {
    let export = "torch.onnx.export(Net(), torch.randn(4), 'net.onnx')";
    for code in ["torch.arange(0, 1, step=0.25).softmax(0)", "torch.range(0, 3).softmax(0)"] {
        check_model("", &format!("return x * {code}"), export);
    }
    check_model("", "return x * torch.arange(4).softmax(0) #! dtype-mismatch", export);
    check_model("", "return x * torch.range(0, 4) #! shape-mismatch", export);
}

#[test]
fn a_type_by_name_is_a_dtype() {
    let export = "torch.onnx.export(Net(), torch.randn(4), 'net.onnx')";
    check_model("", "return x * (1 - (x > 0).type('torch.FloatTensor'))", export);
    check_model("", "return x.masked_fill(torch.ones(4).type('torch.BoolTensor'), 0)", export);
    check_model("", "return x.type('torch.LongTensor').mean() #! dtype-mismatch", export);
}

#[test]
fn a_module_that_is_initialized_elsewhere_is_not_reported() {
    let net = |method: &str, lines: &str| {
        let init = format!("    def __init__(self):\n{lines}        self.fc = nn.Linear(4, 2)MARK\n");
        let export = "torch.onnx.export(Net(), torch.randn(3, 4), 'net.onnx')\n";
        let run = "    def forward(self, x):\n        return self.fc(x)\n";
        format!("class Net(nn.Module):\n{method}{init}{run}\n\n{export}")
    };
    let new = "    def __new__(cls):\n        obj = super().__new__(cls)\n        \
               nn.Module.__init__(obj)\n        return obj\n";
    let set = "    def __setattr__(self, name, value):\n        nn.Module.__init__(self)\n        \
               super().__setattr__(name, value)\n";
    let start = "    def start(self):\n        nn.Module.__init__(self)\n";
    for (method, lines) in [(new, ""), (set, ""), (start, "        self.start()\n")] {
        check(&net(method, lines).replace("MARK", ""));
    }
    for lines in ["", "        self.superpixels = 4\n"] {
        check(&net("", lines).replace("MARK", "  #! unknown-attribute"));
    }
}

#[test]
fn booleans_of_numpy_are_subtracted() {
    let export = "torch.onnx.export(Net(), torch.randn(4), 'net.onnx')";
    check_model("", "flag = np.float64(3.0) > 2\nreturn x - flag", export);
    check_model("", "return x - True #! dtype-mismatch", export);
}

#[test]
fn branches_that_only_some_exports_run_are_reported() {
    let net = |mark: &str| {
        format!(
            "class Net(nn.Module):\n    def __init__(self, task):\n        super().__init__()\n        \
             self.task = task\n\n    def forward(self, x):\n        if self.task == 'b':\n            \
             x = x / x.max().item(){mark}\n        return x\n\n\n"
        )
    };
    let export = |task: &str| {
        format!("torch.onnx.export(Net({task}), (torch.randn(1, 4),), 'net.onnx', dynamo=False)\n")
    };
    check(&format!("{}{}", net("  #? item-baked"), export("'a'")));
    let other = format!("\n\ndef other():\n    {}", export("'b'"));
    check(&format!("{}{}{other}", net("  #! item-baked"), export("'a'")));
    let parsed = "import argparse\nparser = argparse.ArgumentParser()\n\
                  parser.add_argument('--task', default='a')\nargs = parser.parse_args()\n";
    check(&format!("{}{parsed}{}", net("  #! item-baked"), export("args.task")));
}

#[test]
fn older_releases_accept_masks_of_bytes() {
    let folder = std::env::temp_dir().join(format!("onnx-lint-masks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("net.py");
    let text = "import torch\nx = torch.ones(3).masked_fill(torch.ones(3).byte(), 0)\n";
    std::fs::write(&path, text).unwrap();
    let found = |requirement: &str| {
        std::fs::write(folder.join("requirements.txt"), requirement).unwrap();
        lint(text, path.to_str().unwrap(), &SourceFiles::default()).len()
    };
    let (old, new) = (found("torch<1.10\n"), found("torch>=2.1\n"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((old, new), (0, 1));
}
