//! Tests of values that become numbers or constants, dtypes, outputs, operators and training mode.

use super::*;

#[test]
fn conversions_to_python_values_are_reported() {
    for body in [
        "n = k.item()  #! item-baked\nreturn x.reshape(n, -1)",
        "return x * int(k)  #! item-baked",
        "scale = float(x.abs().max())  #! item-baked\nreturn x / scale",
        "return x[:, : k.item()]  #! item-baked",
        "sizes = x.sum(dim=1).long().tolist()  #! item-baked\nreturn torch.split(x, sizes)",
        "with torch.no_grad():\n    m = x.max().item()  #! item-baked\nreturn x - m",
        "if (peak := x.amax().item()) is None:  #! item-baked\n    return x\nreturn x / peak",
        "return x * math.sqrt(x.var())  #! item-baked",
        "return torch.full((3,), x.mean().item())  #! item-baked",
        "return [x * t.item() for t in (x.min(), x.max())]  #! item-baked",
        "return x * max(1, round(float(torch.norm(x))))  #! item-baked",
        "return x.view(\n    2,\n    int(x.sum()),  #! item-baked\n)",
        "self.peak = x.max()\nreturn x / self.peak.item()  #! item-baked",
        "c = {'s': x.mean().item()}  #! item-baked\nreturn x",
        "def peak(t):\n    return t.max().item()  #! item-baked\nreturn x / peak(x)",
        "def scaled():\n    return k / x.max().item()  #! item-baked\nreturn scaled()",
        "y = self.backbone(x)\nreturn y / y.norm().item()  #! item-baked",
        "for n in x.sum(1).tolist():  #! item-baked\n    k = k + n\nreturn k",
    ] {
        check_forward(body);
    }
    check(&forward("", "x: Tensor, *, k: torch.Tensor", "return x + k.item()  #! item-baked"));
    check(&format!(
        "def scaled(t, by):\n    return t * by.item()  #! item-baked\n\n{}",
        forward("", "x", "return scaled(x, x.mean())")
    ));
    check(&format!(
        "class Net(nn.Module):\n    def peak(self, t):\n        return t.max().item()  #! item-baked\n\n{}",
        "    def forward(self, x):\n        return x / self.peak(x)\n"
    ));
}

#[test]
fn conversions_of_weights_are_remarks() {
    check(&forward(
        "self.scale = nn.Parameter(torch.ones(1))",
        "x",
        "return x * self.scale.item()  #? item-baked",
    ));
    check(&forward(
        "self.register_buffer('k', torch.tensor(3))",
        "x",
        "return x[: int(self.k)]  #? item-baked",
    ));
}

#[test]
fn conversions_of_constants_are_not_reported() {
    for body in [
        "return x * float(3) + int('4')",
        "d = x.dim()\nreturn x.sum(int(d) - 1)",
        "n = torch.tensor([2, 3]).tolist()\nreturn x.reshape(*n)",
        "return x * torch.tensor(0.5).item()",
        "return x.to(float)",
        "i = int(x.ndim)\nreturn x.sum(i)",
    ] {
        check_forward(body);
    }
    check(&forward("self.n = 3", "x, k: int = 2", "return x * int(self.n) * float(k)"));
    check(&forward("", "batch", "return int(batch['k'])"));
    check("def helper(x):\n    return x.sum().item()\n");
    check("class Dataset:\n    def forward(self, x):\n        return x.sum().item()\n");
    // Branches for training, or for runs without tracing, do not run during an export.
    check_forward("if self.training:\n    print(x.mean().item())\nreturn x");
    check_forward("if not torch.jit.is_tracing():\n    print(x.mean().item())\nreturn x");
}

#[test]
fn lists_indexed_by_tensors_are_reported() {
    let init = "self.heads = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])";
    check(&forward(init, "x, k", "return self.heads[k.argmax()](x)  #! item-baked"));
    check(&forward(init, "x, k", "return self.heads[k](x)  #? item-baked"));
    check(&forward(init, "x", "return self.heads[0](x) + self.heads[-1](x) + [x, -x][1]"));
}

#[test]
fn sizes_converted_to_numbers_are_remarks() {
    check_forward("n = int(x.shape[1] * 0.5)  #? baked-shape\nreturn x[:, :n]");
    check_forward("n = len(x.relu())  #? baked-shape\nreturn x.reshape(n, -1)");
    check_forward("return x / math.sqrt(x.size(1))  #? baked-shape");
    check_forward("b, n, d = map(int, x.shape)  #? baked-shape\nreturn x.reshape(b, n * d)");
    check_forward("return x / math.sqrt(x.size(-1))");
    check_forward("return x.reshape(-1, math.prod(x.shape[1:]))");
}

#[test]
fn values_from_numpy_are_reported() {
    for body in [
        "noise = torch.from_numpy(np.ones((2, 5), dtype=np.float32))  #? numpy-constant\nreturn x + noise",
        "s = float(x.detach().numpy().max())  #! numpy-constant\nreturn x / s",
        "return x * np.max(x.abs())  #! numpy-constant",
        "n = np.prod(x.shape[1:])  #? numpy-constant\nreturn x.reshape(-1, n)",
        "a = np.ones(len(x.shape)) * x.shape[1]\nreturn x + torch.from_numpy(a).to(x.dtype)  #? numpy-constant",
        "return x.sum() * torch.tensor([x.shape[2], 3])  #? numpy-constant",
        "return x.sum() * torch.tensor(x.shape[2])",
        "return x.sum() * torch.tensor(x.shape)  #? numpy-constant",
        "a = x.detach().cpu().numpy()  #! numpy-constant\nreturn torch.from_numpy(np.flip(a))  #! numpy-constant",
        "return x + torch.tensor(np.arange(5))  #? numpy-constant",
        "return k * np.sum(x)  #? numpy-constant",
        "grid = torch.as_tensor(np.stack([np.zeros(3), np.ones(3)]), dtype=torch.float32)  #? numpy-constant\nreturn x + grid",
        "return x - torch.tensor(x.mean())  #! numpy-constant",
        "return x * torch.tensor([x.amin(), 1.0])  #! numpy-constant",
        "return x * torch.as_tensor([x.amin(), x.amax()])  #! numpy-constant",
        "return x - torch.as_tensor(x.mean())",
        "return x - torch.tensor([1.0, 2.0])",
        "y = np.clip(x.numpy(), 0, 1)  #! numpy-constant\nreturn x",
    ] {
        check_forward(body);
    }
    check(
        "import numpy\nfrom torch import from_numpy as wrap\nclass Net(nn.Module):\n    def forward(self, x):\n        return x + wrap(numpy.eye(3, dtype='float32'))  #? numpy-constant\n",
    );
    check(&forward(
        "self.anchors = np.zeros(3)",
        "x",
        "return x + torch.tensor(self.anchors, dtype=x.dtype)  #? numpy-constant",
    ));
}

#[test]
fn constants_from_numpy_are_not_reported() {
    for body in [
        "return x / np.sqrt(64)",
        "return x * np.pi",
        "return x.clamp(max=np.log(1000.0 / 16))",
        "return x + torch.tensor([1.0, 2.0])",
    ] {
        check_forward(body);
    }
    check(&forward("self.dim = 4", "x", "return x / np.sqrt(self.dim)"));
    check("TABLE = torch.from_numpy(np.ones(3))\n");
}

#[test]
fn reads_of_data_are_reported() {
    for body in [
        "y = x.data  #! tensor-data\ny += 1\nreturn x * y",
        "return F.relu(x).data + x  #! tensor-data",
        "x.data.clamp_(0, 1)  #! tensor-data\nreturn x",
        "for t in [x.sin()]:\n    t = t.data  #! tensor-data\nreturn t",
    ] {
        check_forward(body);
    }
    check(&forward(
        "",
        "x: torch.Tensor",
        "h = x.view(-1)\nreturn h.data.numpy()  #! tensor-data numpy-constant",
    ));
    check_forward("return x.detach() + 1");
    check(&forward("self.w = nn.Parameter(torch.ones(3))", "x", "return x * self.w.data"));
    check(&forward("", "packed", "return packed.data, packed.batch_sizes"));
    check(&forward("", "batch: Batch", "return batch.data"));
}

#[test]
fn promotion_to_float64_is_reported() {
    for body in [
        "return x + torch.linspace(0, 1, 4, dtype=torch.float64)  #! float64-promotion",
        "w = torch.ones(4, dtype=torch.double)\nreturn x * w  #! float64-promotion",
        "w = torch.ones_like(x, dtype=torch.float64)\nreturn k * w  #? float64-promotion",
        "kind = torch.float64\nw = torch.full((4,), 0.5, dtype=kind)\nreturn x * w  #! float64-promotion",
        "y = x.relu()\nreturn torch.cat([y, torch.zeros(2, 4).double()])  #! float64-promotion",
        "w = torch.DoubleTensor([0.1, 0.2])\nx = x.float()\nx = x - w  #! float64-promotion\nreturn x",
        "w = torch.tensor([0.1, 0.2], dtype=torch.float64)\nreturn torch.mul(x.sin(), w)  #! float64-promotion",
        "y = x.exp()\nt = torch.from_numpy(np.linspace(0, 1, 4))  #? numpy-constant\ny = y + t  #! float64-promotion\nreturn y",
    ] {
        check_forward(body);
    }
    let table = "self.register_buffer('w', torch.linspace(0, 1, 4, dtype=torch.float64))";
    check(&forward(table, "x", "return x * self.w  #! float64-promotion"));
    for body in [
        "return x * torch.tensor(0.5, dtype=torch.float64)",
        "return x * torch.linspace(0, 1, 4, dtype=torch.float64).to(x)",
        "return x * torch.linspace(0, 1, 4, dtype=torch.float64).float()",
        "return x.double() * torch.ones(3, dtype=torch.float64)",
        "return x * torch.linspace(0, 1, 4)",
        "return x * np.float64(0.5)",
    ] {
        check_forward(body);
    }
}

#[test]
fn dictionary_and_string_outputs_are_remarks() {
    for body in [
        "return {'sum': x.sum(1)}  #? dict-output",
        "return dict(a=x, b=k)  #? dict-output",
        "out = {}\nout['y'] = x\nreturn out  #? dict-output",
        "return x, 'label'  #? dict-output",
        "return {n: x for n in ('a', 'b')}  #? dict-output",
        "return x, {'k': k}  #? dict-output",
        "from transformers.modeling_outputs import BaseModelOutput\nreturn BaseModelOutput(last_hidden_state=x)  #? dict-output",
    ] {
        check_forward(body);
    }
    let data = "from dataclasses import dataclass\n@dataclass\nclass Output:\n    y: Tensor\n\n";
    check(&format!("{data}{}", forward("", "x", "return Output(y=x)  #? dict-output")));
    check_forward("return x, k");
    check_forward("cfg = {'dim': 1}\nreturn x.sum(**cfg)");
    // The result of a submodule is not an output of the model.
    check(
        "class Part(nn.Module):\n    def forward(self, x):\n        return {'y': x}\n\n\
         class Net(nn.Module):\n    def __init__(self):\n        self.part = Part()\n\n    \
         def forward(self, x):\n        return self.part(x)['y']\n",
    );
}

#[test]
fn autograd_functions_without_symbolic_are_remarks() {
    let square = |more: &str| {
        format!(
            "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * x\n{more}\n"
        )
    };
    let bare = square("");
    check(&format!("{bare}{}", forward("", "x", "return Square.apply(x)  #? python-op")));
    check(&format!("{bare}square = Square.apply\n{}", forward("", "x", "return square(x)  #? python-op")));
    check(&format!(
        "{bare}def sq(t):\n    return Square.apply(t) + 1  #? python-op\n\n{}",
        forward("", "x", "return sq(x)")
    ));
    check(&format!("{bare}{}", forward("self.f = Square.apply", "x", "return self.f(x)  #? python-op")));
    check(&format!(
        "from torch.autograd import Function\n{}{}",
        bare.replace("torch.autograd.Function", "Function"),
        forward("", "x", "y = x + Square.apply(x)  #? python-op\nreturn y")
    ));
    let symbolic = "    @staticmethod\n    def symbolic(g, x):\n        return g.op('Mul', x, x)\n";
    check(&format!("{}{}", square(symbolic), forward("", "x", "return Square.apply(x)")));
    check(&forward("self.net = nn.Linear(3, 3)", "x", "return self.net.apply(print)"));
    check(&format!("{bare}{}", forward("", "x", "return x")));
}

#[test]
fn layers_in_training_mode_are_reported() {
    for body in [
        "return F.dropout(x, 0.5)  #! training-mode",
        "return torch.nn.functional.dropout(x)  #! training-mode",
        "return F.dropout2d(x, p=0.1, training=True)  #! training-mode",
        "return nn.Dropout(0.3)(x)  #! training-mode",
        "return torch.dropout(x, 0.5, True)  #! training-mode",
        "self.train()  #! training-mode\nreturn x",
        "return nn.BatchNorm1d(3)(x)  #! training-mode",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)  #! training-mode",
        "return F.batch_norm(x, self.mean, self.var, training=True)  #! training-mode",
        "return F.batch_norm(x, self.mean, self.var, None, None, True)  #! training-mode",
        "return F.batch_norm(input=x, running_mean=k, running_var=k, training=True)  #! training-mode",
        "return torch.batch_norm(x, None, None, k, k, True, 0.1, 1e-5, False)  #! training-mode",
        "return torch.native_batch_norm(x, None, None, k, k, training=True, momentum=0.1, eps=1e-5)[0]  #! training-mode",
        "return F.dropout(x, 0.5, True)  #! training-mode",
        "return F.dropout(x, training=True)  #! training-mode",
        "return F.feature_alpha_dropout(x, 0.5, True)  #! training-mode",
        "return F.rrelu(x, 0.1, 0.3, True)  #! training-mode",
        "return F.multi_head_attention_forward(x, x, x, 8, 2, k, k, None, None, False, 0.1, k, k)[0]  #! training-mode",
        "self.training = True  #! training-mode\nreturn x",
    ] {
        check_forward(body);
    }
    for body in [
        "return F.dropout(x, 0.5, self.training)",
        "return F.dropout(x, p=0.5, training=self.training)",
        "return F.dropout(x, training=False)",
        "return F.dropout(x, p=0.0)",
        "return F.batch_norm(x, None, None, training=True)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1 if self.training else 0.0)",
        "return F.alpha_dropout(x, 0.5)",
        "return F.batch_norm(x, self.mean, self.var, self.weight, self.bias, False)",
        "return F.batch_norm(x, self.mean, self.var, training=self.training)",
        "return torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)",
        "return torch.dropout(x, 0.5, False)",
        "return F.rrelu(x, 0.1, 0.3)",
        "return F.multi_head_attention_forward(x, x, x, 8, 2, k, k, None, None, False, 0.0, k, k)[0]",
        "self.training = False\nreturn x",
        "k.training = True\nreturn x",
        "self.train(self.training)\nreturn x",
    ] {
        check_forward(body);
    }
    check(&forward("self.drop = nn.Dropout(0.5)", "x", "return self.drop(x)"));
    check(&forward(
        "self.bn = nn.BatchNorm1d(3)",
        "x",
        "self.bn.train()  #! training-mode\nreturn self.bn(x)",
    ));
    check(&forward("self.bn = nn.BatchNorm1d(3)", "x", "self.bn.train(False)\nreturn self.bn(x)"));
    check(&forward(
        "self.drop = nn.Dropout()",
        "x",
        "self.drop.training = True  #! training-mode\nreturn self.drop(x)",
    ));
    check(&forward("self.gru = nn.GRU(3, 3)", "x", "return self.gru.train()(x)[0]  #! training-mode"));
}

#[test]
fn one_hot_without_number_of_classes_is_reported() {
    for body in [
        "return F.one_hot(x).float()  #! one-hot-depth",
        "return torch.nn.functional.one_hot(x, -1)  #! one-hot-depth",
        "return nn.functional.one_hot(x.long(), num_classes=-1)  #! one-hot-depth",
        "y = F.one_hot(\n    x,  # labels\n)\nreturn y"
            .replace("one_hot(\n", "one_hot(  #! one-hot-depth\n")
            .as_str(),
        "return torch.stack([F.one_hot(t) for t in (x, k)])  #! one-hot-depth",
    ] {
        check_forward(body);
    }
    check(
        "from torch.nn.functional import one_hot\nclass Net(nn.Module):\n    def forward(self, x):\n        return one_hot(x)  #! one-hot-depth\n",
    );
    check_forward("return F.one_hot(x, 3)");
    check(&forward("self.n = 3", "x", "return F.one_hot(x, num_classes=self.n)"));
    check_forward("args = (3,)\nreturn F.one_hot(x, *args)");
}

#[test]
fn lambdas_and_partial_calls_are_followed() {
    let helpers = "import functools\ndef scaled(x, how, top=1.0):\n    return x * (top / how(x))\n\
        def peak(x):\n    return x.abs().max().item()  #! item-baked\n";
    let by = |given: &str| {
        let init = format!("self.scale = functools.partial(scaled, {given})");
        check(&format!("{helpers}{}", forward(&init, "x", "return self.scale(x)")));
    };
    by("how=peak");
    by("top=2.0, how=peak");
    check(&forward("self.norm = lambda t: t / t.sum().item()  #! item-baked", "x", "return self.norm(x)"));
    check(&forward("self.flat = lambda t: t.view(int(t.size(0)), 15)  #? baked-shape", "x", "return x * 2"));
    check(&forward("self.flat = lambda t: t.view(t.size(0), -1)", "x", "return self.flat(x)"));
    // A number passed by the caller is not None.
    check(
        "def encode(labels, n=None):\n    if n is None:\n        n = int(labels.max()) + 1\n    \
        return F.one_hot(labels, n)\nclass Net(nn.Module):\n    def forward(self, x):\n        return encode(x, 5)\n",
    );
}

#[test]
fn modules_passed_to_script_are_not_linted() {
    let steps = "class Step(nn.Module):\n    def forward(self, x):\n        for t in range(x.shape[1]):MARK\n            \
        x = x * 2\n        return x\n";
    let made = forward("self.step = torch.jit.script(Step())", "x", "return self.step(x)");
    check(&format!("{}{made}", steps.replace("MARK", "")));
    let made = forward("self.step = Step()", "x", "return self.step(x)");
    check(&format!("{}{made}", steps.replace("MARK", "  #! unrolled-loop")));
}

#[test]
fn conversions_by_other_functions_are_reported() {
    check_forward(
        "n = x.shape[0].__int__()  #? baked-shape\n\
         m = operator.index(x.argmax())  #! item-baked\n\
         tokens = [x[0]] * x.shape[0]  #? baked-shape\n\
         y = x.view(*[int(s) for s in x.shape[:2]], -1)  #? baked-shape\n\
         zeros = [0] * x.dim()\n\
         return torch.stack(tokens) + y + m + n + k(zeros)",
    );
}

#[test]
fn dictionaries_and_variadic_tensors_are_followed() {
    check(&forward(
        "",
        "batch: Dict[str, torch.Tensor]",
        "x = batch['x']\nreturn x / x.max().item()  #! item-baked",
    ));
    check(&forward("", "*xs: torch.Tensor", "a, b = xs\nreturn a / b.max().item()  #! item-baked"));
    check(&forward("", "batch: Dict[str, float]", "x = batch['x']\nreturn x / x.max().item()"));
    check(&forward("", "**xs: torch.Tensor", "return xs['a'] / xs['a'].max().item()"));
}

#[test]
fn callable_defaults_of_init_are_followed() {
    check(
        "def peak(x):\n    return x.max().item()  #! item-baked\n\n\
         class Net(nn.Module):\n    def __init__(self, norm=peak, drop=False):\n        super().__init__()\n        \
         self.norm, self.drop = norm, drop\n\n    def forward(self, x: Tensor):\n        \
         if self.drop:\n            return x\n        return x / self.norm(x)\n",
    );
}

#[test]
fn reads_that_only_checks_use_are_remarks() {
    check_forward("assert x.max().item() <= 3  #? item-baked traced-branch\nreturn x");
    check_forward("n = x.max().item()  #! item-baked\nassert n <= 3  #? traced-branch\nreturn x * n");
    let peak = "def peak(x):\n    return x.max().item()  #! item-baked\n\n\n";
    let body = "assert peak(x) <= 3  #? traced-branch\nreturn x * peak(x)";
    check(&format!("{peak}{}", forward("", "x", body)));
}
