//! Tests of right scripts that are similar to scripts with a fault.

use super::*;

const PARSER: &str = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--config', default=None)\n\
                      args = parser.parse_args()\n";

#[test]
fn parameters_that_a_list_gets_later_are_items() {
    check(
        "net = nn.ParameterList()\nfor _ in range(3):\n    net.append(nn.Parameter(torch.zeros(2)))\nlast = net[2]\n",
    );
    check("net = nn.ParameterList()\nnet.extend([torch.zeros(2)])\nfirst = net[0]\n");
    check("net = nn.Sequential(nn.ReLU())\nnet._modules['1'] = nn.ReLU()\nlast = net[1]\n");
    check("net = nn.Sequential(nn.ReLU())\nlast = net[1] #! index-out-of-range\n");
}

#[test]
fn wrapped_constructors_take_all_arguments() {
    let logged = "def logged(f):\n    def inner(*args, **kwargs):\n        return f(*args, **kwargs)\n    return inner\n\n\n";
    let class = "class Net(nn.Module):\n    @logged\n    def __init__(self, width):\n        super().__init__()\n\n\n";
    check(&format!("{logged}{class}net = Net(8)\n"));
    check(
        "class Net(nn.Module):\n    def __init__(*args, **kwargs):\n        nn.Module.__init__(args[0])\n\n\nnet = Net(3, 4)\n",
    );
}

#[test]
fn the_constructor_of_another_class_may_run() {
    let data = "from dataclasses import dataclass\n\n\nclass Base:\n    def __init__(self):\n        self.name = 'x'\n\n\n\
                @dataclass\nclass Config(Base):\n    width: int = 8\n\n\nconfig = Config(width=16)\n";
    check(data);
    let mixin = "class Mixin:\n    def __init__(self, scale):\n        self.scale = scale\n\n\nclass Net(nn.Linear, Mixin):\n    pass\n\n\n";
    check(&format!("{mixin}net = Net(4, 4)\n"));
    let diamond = "class A(nn.Module):\n    def __init__(self, x):\n        super().__init__()\n\n\nclass B(A):\n    pass\n\n\n\
                   class C(A):\n    def __init__(self, x, y):\n        super().__init__(x)\n\n\nclass D(B, C):\n    pass\n\n\nnet = D(1, 2)\n";
    check(diamond);
    let subclass = "class Base(nn.Module):\n    def __init_subclass__(cls):\n        adapt(cls)\n\n\nclass Net(Base):\n    \
                    def __init__(self, width):\n        super().__init__()\n\n\nnet = Net()\n";
    check(subclass);
    let class = "class Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n\n\n";
    check(&format!("import tools\n\n\n{class}tools.configurable(Net)\nnet = Net()\n"));
    check(&format!("{class}net = Net() #! forward-arguments\n"));
}

#[test]
fn constructors_of_deeply_nested_modules_are_not_checked() {
    let mut script = String::new();
    for at in 0..46 {
        let inner = if at == 45 { "nn.Linear(a, a)".to_owned() } else { format!("N{}(a)", at + 1) };
        script += &format!(
            "class N{at}(nn.Module):\n    def __init__(self, a):\n        super().__init__()\n        self.n = {inner}\n\n\n"
        );
    }
    check(&format!("{script}net = N0(3)\n"));
}

#[test]
fn arguments_that_other_code_may_define_are_known() {
    let used = "opset = args.opset\n";
    for code in [
        "args.__setattr__('opset', 3)\n",
        "if args.config:\n    for key, value in load(args.config):\n        setattr(args, key, value)\n",
        "if args.config:\n    args.opset = 3\n",
        "other = argparse.ArgumentParser()\nother.add_argument('--opset')\nother.parse_args([], namespace=args)\n",
        "other = argparse.ArgumentParser()\nother.add_argument('--opset')\nother.parse_args([], args)\n",
        "parser.add_argument('--x', action=Action)\nargs = parser.parse_args()\n",
    ] {
        check(&format!("{PARSER}{code}{used}"));
    }
    for condition in ["'opset' in args", "'opset' in dir(args)", "has"] {
        check(&format!("{PARSER}has = hasattr(args, 'opset')\nif {condition}:\n    {used}"));
    }
    check(&format!(
        "{PARSER}net = nn.ReLU().eval()\nargs.depth = 3\n{}",
        used.replace('\n', " #! unknown-attribute\n")
    ));
}

#[test]
fn attributes_that_other_code_may_add_to_a_model_are_known() {
    let model = "import torchvision\nfrom torchvision import models\nmodel = models.resnet18(weights=None)\n";
    for code in [
        "models.ResNet.neck = embed\n",
        "nn.Module.neck = embed\n",
        "type(model).neck = embed\n",
        "model.__class__ = Net\n",
        "model._modules['nec' + 'k'] = nn.Identity()\n",
        "model.fc.register_forward_hook(hook)\n",
    ] {
        check(&format!("{model}{code}neck = model.neck\n"));
    }
    check(&format!(
        "import thop\n{model}thop.profile(model, inputs=(torch.randn(1, 3, 64, 64),))\ncount = model.total_ops\n"
    ));
    let own = forward("super().__init__()", "x", "return x");
    check(&format!("{own}\n\nnn.Module.size_of = lambda self: 3\nsize = Net().size_of()\n"));
    check(&format!("{model}if 'neck' in dict(model.named_children()):\n    neck = model.neck\n"));
}

#[test]
fn operators_that_an_export_may_pass_by_are_not_reported() {
    let export = "torch.onnx.export(Net(), torch.randn(4, 2), 'net.onnx', dynamo=False)\n";
    let model = |body: &str| forward("super().__init__()", "x", body);
    let complex = "y = torch.view_as_complex(x)";
    for body in [
        format!(
            "if torch.onnx.is_in_onnx_export():\n    return x * 2\n{complex}\nreturn torch.view_as_real(y)"
        ),
        format!("if not torch.jit.is_tracing():\n    {complex}\n    x = torch.view_as_real(y)\nreturn x"),
        format!(
            "for _ in range(3):\n    if FLAG:\n        break\n    {complex}\n    x = torch.view_as_real(y)\nreturn x"
        ),
    ] {
        check(&format!("{}\n\n{export}", model(&body)));
    }
    check(&format!("{}\n\n{export}", model(&format!("{complex}\nreturn x * 2"))));
    check(&format!(
        "{}\n\n{export}",
        model("n = float(torch.view_as_complex(x).abs().sum()) #! item-baked\nreturn x * 2")
    ));
    let patched = model(&format!("{complex}\nreturn torch.view_as_real(y)"));
    check(&format!("torch.view_as_complex = lambda x: x\n\n\n{patched}\n\n{export}"));
    let faulty = model(&format!("{complex} #! unsupported-operator\nreturn torch.view_as_real(y)"));
    check(&format!("{faulty}\n\nif FLAG:\n    {export}"));
}

#[test]
fn lightning_moves_and_changes_the_sample() {
    let module = |hook: &str| {
        format!(
            "import lightning as L\n\n\nclass Net(L.LightningModule):\n    def __init__(self):\n        super().__init__()\n        \
             self.fc = nn.Linear(3, 5)\n\n{hook}    def forward(self, x):\n        return self.fc(x)"
        )
    };
    check(&format!("{}\n\n\nNet().cuda().to_onnx('net.onnx', torch.randn(2, 3))\n", module("")));
    let hook =
        "    def on_after_batch_transfer(self, batch, index):\n        return batch.transpose(0, 1)\n\n";
    check(&format!("{}\n\n\nNet().to_onnx('net.onnx', torch.randn(3, 2))\n", module(hook)));
    let mixed = module("").replace("(L.LightningModule)", "(L.LightningModule, Mixin)");
    check(&format!("from tools import Mixin\n{mixed}\n\n\nNet().to_onnx('net.onnx', torch.randn(3, 2))\n"));
}

#[test]
fn checks_of_an_example_are_remarks() {
    let body = "if k < 0: #? traced-branch\n    raise ValueError('negative')\nassert k < 9 #? traced-branch\nreturn x * k";
    let export =
        "torch.onnx.export(Net(), (torch.randn(2, 3), torch.tensor(0.7)), 'net.onnx', dynamo=False)\n";
    check(&format!("{}\n\n{export}", forward("super().__init__()", "x, k", body)));
}

#[test]
fn quantized_models_that_may_run_no_quantized_layer_are_exported() {
    let export = "torch.onnx.export(small, torch.randn(1, 4), 'net.onnx', dynamo=False)\n";
    let call = |model: &str, more: &str| {
        format!("small = torch.ao.quantization.quantize_dynamic({model}, {{nn.Linear}}{more})\n{export}")
    };
    check(&call("nn.Sequential(nn.Linear(4, 4))", ", dtype=torch.float16"));
    check(&call("nn.Sequential(nn.Linear(4, 4))", ", mapping=OWN"));
    let net = forward("super().__init__()\nself.aux = nn.Linear(4, 4)", "x", "return x * 2");
    check(&format!("{net}\n\n{}", call("Net().eval()", "")));
}

#[test]
fn losses_raise_their_own_exceptions() {
    let script = |size: &str, kind: &str| {
        format!(
            "try:\n    loss = F.cross_entropy(torch.randn(5, 3), torch.randint(0, 3, {size}))\nexcept {kind}:\n    loss = None\n"
        )
    };
    check(&script("(4,)", "ValueError"));
    check(&script("(4, 1)", "ValueError"));
    check(&script("(5, 1)", "RuntimeError"));
}

#[test]
fn class_methods_of_an_autograd_function_are_not_followed() {
    let function = "class Double(torch.autograd.Function):\n    @classmethod\n    def forward(cls, ctx, x):\n        return x * 2\n\n\n";
    let model = forward("super().__init__()", "x", "return Double.apply(x) #? python-op");
    check(&format!(
        "{function}{model}\n\ntorch.onnx.export(Net(), torch.randn(4, 2), 'net.onnx', dynamo=True)\n"
    ));
}

#[test]
fn a_body_may_return_what_another_path_returned() {
    let helper = "def pick(x, flag):\n    if flag:\n        return 3\n    try:\n        return 3\n    except ValueError:\n        \
                  pass\n    return x.max().item()\n\n\n";
    let body = "n = pick(x, k.flag)\nreturn x[:n]";
    check(&format!("{helper}{}", forward("", "x, k", body)));
}

#[test]
fn long_conditions_and_long_lists_are_fast() {
    let condition = "k is not None and ".repeat(5000);
    check_forward(&format!("if {condition}x is not None:\n    x = x + 1\nreturn x"));
    check(
        "net = nn.ModuleList()\nfor i in range(2000):\n    net.append(nn.ReLU())\nfor i in range(2000):\n    net[i] = nn.ReLU()\n    last = net[i]\n",
    );
}
