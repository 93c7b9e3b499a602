//! Tests of calls in scripts that certainly raise, and of similar calls that do not.

use super::*;

#[test]
fn to_onnx_of_lightning_runs_the_model() {
    let module = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    \
                  def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(10, 5)\n\n    \
                  def forward(self, x):\n        return self.fc(x)";
    check(&format!("{module} #! shape-mismatch\n\n\nNet().to_onnx('net.onnx', torch.randn(2, 3))\n"));
    check(&format!("{module}\n\n\nNet().to_onnx('net.onnx', torch.randn(2, 10))\n"));
}

#[test]
fn items_beyond_the_end_of_a_sequential_are_reported() {
    let export = "torch.onnx.export(net, torch.randn(1, 4), 'net.onnx')\n";
    let net = "net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())\n";
    check(&format!("{net}net[2] = nn.Linear(4, 2) #! index-out-of-range\n{export}"));
    check(&format!("{net}head = net[-3] #! index-out-of-range\n{export}"));
    check(&format!("{net}net[-1] = nn.Linear(4, 2)\nhead = net[1]\n{export}"));
    let named = "from collections import OrderedDict\nnet = nn.Sequential(OrderedDict(a=nn.Linear(4, 8), b=nn.ReLU()))\n";
    check(&format!("{named}net[0] = nn.Linear(4, 4)\n{export}"));
}

#[test]
fn numbers_of_an_example_are_tensors_in_tracing() {
    let model = |body: &str| forward("super().__init__()", "x, k", body);
    let export = |dynamo: &str| {
        format!("torch.onnx.export(Net(), (torch.randn(2, 3), 4), 'net.onnx', dynamo={dynamo})\n")
    };
    let indexed = "return x + k[:, None] #! shape-mismatch";
    check(&format!("{}\n\n{}", model(indexed), export("False")));
    let converted = "if not torch.is_tensor(k):\n    k = torch.tensor([k])\nreturn x * k";
    let constant = converted.replace("([k])", "([k]) #? numpy-constant");
    check(&format!("{}\n\n{}", model(&constant), export("False")));
}

#[test]
fn branches_on_tensors_of_the_example_are_warnings() {
    let body = |mark: &str| format!("if k > 0.5:{mark}\n    return x + 1\nreturn x");
    let model = |mark: &str| forward("super().__init__()", "x, k", &body(mark));
    let export =
        "torch.onnx.export(Net(), (torch.randn(2, 3), torch.tensor(0.7)), 'net.onnx', dynamo=False)\n";
    check(&format!("{}\n\n{export}", model(" #! traced-branch")));
    check(&format!("{}\n", model(" #? traced-branch")));
}

#[test]
fn arguments_that_the_parser_does_not_define_are_reported() {
    let parser = "import argparse\nparser = argparse.ArgumentParser()\n\
                  parser.add_argument('--opset-version', type=int, default=17)\n";
    let used = "args = parser.parse_args()\nopset = args.opset";
    check(&format!("{parser}{used} #! unknown-attribute\n"));
    check(&format!("{parser}add_options(parser)\n{used}\n"));
    check(&format!("{parser}parser.add_argument('--opset')\n{used}\n"));
    check(&format!("{parser}for name in NAMES:\n    parser.add_argument(name)\n{used}\n"));
    check(&format!("{parser}args = parser.parse_args()\nargs.opset = 3\nopset = args.opset\n"));
    check(&format!("{parser}args = parser.parse_args()\nvars(args)['opset'] = 3\nopset = args.opset\n"));
    check(&format!("{parser}args = parser.parse_args()\nopset = getattr(args, 'opset', 17)\n"));
    check(&format!("{parser}if parser:\n    parser.add_argument('--opset')\n{used}\n"));
}

#[test]
fn strings_as_sizes_are_reported() {
    let parser = "import argparse\nparser = argparse.ArgumentParser()\n";
    let used = "args = parser.parse_args()\nx = torch.zeros(1, 3, args.size, args.size)";
    check(&format!("{parser}parser.add_argument('--size', default='64')\n{used} #! shape-mismatch\n"));
    check(&format!("{parser}parser.add_argument('--size', default='64', type=int)\n{used}\n"));
}

#[test]
fn arguments_that_do_not_fit_a_constructor_are_reported() {
    let class = "class Net(nn.Module):\n    def __init__(self, width, depth=2, *, bias=True):\n        super().__init__()\n\n\n";
    let reported = |call: &str| check(&format!("{class}net = {call} #! forward-arguments\n"));
    reported("Net(hidden=3)");
    reported("Net(3, 2, 1)");
    reported("Net()");
    for call in ["Net(3)", "Net(width=3, bias=False)", "Net(*sizes)", "Net(**options)"] {
        check(&format!("{class}net = {call}\n"));
    }
    check(
        "class Net(nn.Module):\n    def __init__(self, width, **options):\n        super().__init__()\n\n\nnet = Net(3, hidden=4)\n",
    );
    check(
        "@register\nclass Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n\n\nnet = Net(hidden=4)\n",
    );
}

#[test]
fn attributes_that_an_onnx_program_lacks_are_reported() {
    let export = |dynamo: &str| {
        format!("program = torch.onnx.export(nn.Linear(2, 2), (torch.randn(1, 2),), dynamo={dynamo})\n")
    };
    check(&format!("{}program.save_model('net.onnx') #! unknown-attribute\n", export("True")));
    check(&format!("{}program.optimize()\nprogram.save('net.onnx')\n", export("True")));
    check(&format!("{}program.save_model('net.onnx')\n", export("FLAG")));
}

#[test]
fn attributes_that_a_model_of_torchvision_lacks_are_reported() {
    let model = "import torchvision\nmodel = torchvision.models.resnet18(weights=None)\n";
    check(&format!("{model}layer = model.layer5 #! unknown-attribute\n"));
    check(&format!(
        "{model}model.layer4.register_forward_hook(print)\nmodel.neck = nn.Identity()\nneck = model.neck\n"
    ));
    check(&format!("{model}adapt(model)\nlayer = model.layer5\n"));
}

#[test]
fn complex_operators_are_not_traced() {
    let export =
        |dynamo: &str| format!("torch.onnx.export(Net(), torch.randn(4, 2), 'net.onnx', dynamo={dynamo})\n");
    let body = |mark: &str| format!("y = torch.view_as_complex(x){mark}\nreturn torch.view_as_real(y * 2)");
    let model = |mark: &str| forward("super().__init__()", "x", &body(mark));
    check(&format!("{}\n\n{}", model(" #! unsupported-operator"), export("False")));
    check(&format!("{}\n\n{}", model(""), export("True")));
}

#[test]
fn quantized_linear_layers_are_not_exported() {
    let script = |layer: &str, mark: &str| {
        format!(
            "model = nn.Sequential({layer})\nsmall = torch.ao.quantization.quantize_dynamic(model, {{nn.Linear}})\n\
             torch.onnx.export(small, torch.randn(1, 4), 'net.onnx', dynamo=False){mark}\n"
        )
    };
    check(&script("nn.Linear(4, 4)", " #! unsupported-wrapper"));
    check(&script("nn.ReLU()", ""));
}

#[test]
fn forward_of_an_autograd_function_runs() {
    let function = |symbolic: &str| {
        format!(
            "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, factor):\n        \
             ctx.factor = factor\n        return x * factor\n{symbolic}\n\n"
        )
    };
    let model = |body: &str| forward("super().__init__()", "x", body);
    let export = "torch.onnx.export(Net(), torch.randn(4, 2), 'net.onnx', dynamo=True)\n";
    let symbolic =
        "\n    @staticmethod\n    def symbolic(g, x, factor):\n        return g.op('Mul', x, factor)\n";
    let faulty = "return Scale.apply(x, 2, 3) #! forward-arguments";
    check(&format!("{}{}\n\n{export}", function(symbolic), model(faulty)));
    check(&format!("{}{}\n\n{export}", function(symbolic), model("return Scale.apply(x, 2)")));
}

#[test]
fn unsorted_lengths_are_reported() {
    let body = |more: &str, mark: &str| {
        format!(
            "packed = nn.utils.rnn.pack_padded_sequence(x, k, batch_first=True{more}){mark}\nreturn packed.data"
        )
    };
    let script = |lengths: &str, more: &str, mark: &str| {
        let model = forward("super().__init__()", "x, k", &body(more, mark));
        format!(
            "{model}\n\ntorch.onnx.export(Net(), (torch.randn(2, 5, 3), torch.tensor({lengths})), 'net.onnx', dynamo=False)\n"
        )
    };
    check(&script("[2, 5]", "", " #! shape-mismatch"));
    check(&script("[5, 2]", "", ""));
    check(&script("[2, 5]", ", enforce_sorted=False", ""));
}

#[test]
fn class_indices_of_another_shape_are_reported() {
    let script = |shape: &str, mark: &str| {
        let body = format!("return F.cross_entropy(x, k){mark}");
        let model = forward("super().__init__()", "x, k", &body);
        format!(
            "{model}\n\ntorch.onnx.export(Net(), (torch.randn(5, 3), torch.randint(0, 3, {shape})), 'net.onnx')\n"
        )
    };
    check(&script("(5, 1)", " #! shape-mismatch"));
    check(&script("(4,)", " #! shape-mismatch"));
    check(&script("(5,)", ""));
}

#[test]
fn kernels_of_flash_attention_are_not_followed() {
    check(
        "from transformers.modeling_flash_attention_utils import _flash_attention_forward\n\n\n\
         class Net(nn.Module):\n    def forward(self, x: Tensor):\n        return _flash_attention_forward(x, x, x)\n",
    );
}

#[test]
fn loops_in_branches_for_a_single_step_are_remarks() {
    check_forward(
        "steps = x.shape[1]\nif k is not None and steps == 1: #? traced-branch\n    for t in range(x.shape[1]): #? unrolled-loop\n        x = x + x[:, t:t + 1]\nreturn x",
    );
    check_forward("index = x.argmax(1).nonzero()[0] #? boolean-mask\nreturn x[tuple(index)]");
}

#[test]
fn branches_on_buffers_stay_remarks() {
    let model = forward(
        "super().__init__()\nself.register_buffer('limit', torch.tensor(0.5))",
        "x",
        "if self.limit > 0: #? traced-branch\n    return x + 1\nreturn x",
    );
    check(&format!("{model}\n\ntorch.onnx.export(Net(), torch.randn(2, 3), 'net.onnx', dynamo=False)\n"));
}

#[test]
fn a_replaced_first_convolution_of_a_resnet_is_checked() {
    let script = |channels: i64, mark: &str| {
        format!(
            "import torchvision\nnet = torchvision.models.resnet18(weights=None)\n\
             net.conv1 = nn.Conv2d(5, 64, 7, 2, 3, bias=False)\n\
             torch.onnx.export(net.eval(), torch.rand(2, {channels}, 64, 64), 'net.onnx', dynamo=False){mark}\n"
        )
    };
    check(&script(3, " #! shape-mismatch"));
    check(&script(5, ""));
}

#[test]
fn objects_in_a_temporary_folder_are_followed() {
    for open in ["if True:\n    folder = tempfile.mkdtemp()", "with tempfile.TemporaryDirectory() as folder:"]
    {
        check(&format!(
            "import os, tempfile\nnet = nn.Linear(3, 4)\n{open}\n    path = os.path.join(folder, 'net.pth')\n    \
             torch.save(net.state_dict(), path)\n    model = torch.load(path)\n    \
             torch.onnx.export(model, torch.rand(2, 3), 'net.onnx', dynamo=False) #! not-a-module\n"
        ));
    }
}

#[test]
fn arguments_of_the_script_can_be_passed_on() {
    check(
        "import argparse, sys\n\n\ndef main(argv):\n    parser = argparse.ArgumentParser()\n    \
         parser.add_argument('--opset', default='17')\n    options = parser.parse_args(argv)\n    \
         torch.onnx.export(nn.ReLU(), torch.rand(2, 3), 'net.onnx', opset_version=options.opset, dynamo=False) \
         #! argument-type\n\n\nmain(sys.argv[1:])\n",
    );
}
