//! Tests of branches and loops.

use super::*;

#[test]
fn branches_on_tensors_are_reported() {
    for body in [
        "if x.sum() > 0:  #! traced-branch\n    return x + 1\nreturn x - 1",
        "y = x.abs()\nwhile y.max() > 1:  #! traced-branch\n    y = y / 2\nreturn y",
        "return x if x.mean() > 0 else -x  #! traced-branch",
        "if k is not None and (x < 0).any():  #! traced-branch\n    x = -x\nreturn x",
        "if not torch.isnan(x).any():  #! traced-branch\n    x = x + 1\nreturn x",
        "flag = x.min() < 0\nif flag:  #! traced-branch\n    x = -x\nreturn x",
        "if k is None:\n    pass\nelif torch.any(x > 3):  #! traced-branch\n    x = x / 3\nreturn x",
        "if torch.equal(x, x.abs()):  #! traced-branch\n    return x\nreturn -x",
        "if bool(x.any()):  #! traced-branch\n    return x\nreturn -x",
        "y = x.relu()\nz = y.sum() or y.mean()  #! traced-branch\nreturn z",
        "rows = [r for r in (x.sin(), x.cos()) if r.sum() > 0]  #! traced-branch\nreturn rows",
        "if 0 < x.mean() < 1:  #! traced-branch\n    return x\nreturn -x",
        "with torch.no_grad():\n    if x.norm() > 1:  #! traced-branch\n        x = x / x.norm()\nreturn x",
        "return torch.stack([x, max(x.sum(), x.mean())])  #! traced-branch",
        "if 3 in x.long():  #! traced-branch\n    return x\nreturn -x",
    ] {
        check_forward(body);
    }
    check(&forward("", "x, mask: Tensor", "if mask.all():  #! traced-branch\n    return x\nreturn x * mask"));
    check(&format!(
        "def choose(t):\n    if t.sum() > 0:  #! traced-branch\n        return t\n    return -t\n\n{}",
        forward("self.lin = nn.Linear(3, 3)", "x", "return choose(self.lin(x))")
    ));
}

#[test]
fn branches_on_possible_numbers_are_remarks() {
    check_forward("if k > 0:  #? traced-branch\n    return x\nreturn -x");
    check_forward("n = x.sum().item()  #! item-baked\nif n > 0:  #? traced-branch\n    return x\nreturn -x");
    check_forward(
        "n = int(x.max())  #! item-baked\nfor _ in range(n):  #? unrolled-loop\n    x = x + 1\nreturn x",
    );
}

#[test]
fn assertions_and_guards_are_remarks() {
    check_forward("assert (x >= 0).all(), 'negative'  #? traced-branch\nreturn x");
    check_forward("if x.min() < 0:  #? traced-branch\n    raise ValueError('negative')\nreturn x");
    check(&forward(
        "self.gate = nn.Parameter(torch.ones(1))",
        "x",
        "if self.gate > 0:  #? traced-branch\n    return x\nreturn -x",
    ));
}

#[test]
fn branches_on_python_values_are_not_reported() {
    for body in [
        "if x.shape[-1] > 1:\n    x = x + 1\nreturn x",
        "if x.shape[0] > 8:\n    raise ValueError(x.shape)\nreturn x",
        "if x.dim() == 3 and x.is_cuda and x.dtype == torch.float16:\n    x = x[0]\nreturn x",
        "if k is not None:\n    x = x + k\nreturn x",
        "if k:\n    x = x + 1\nreturn x",
        "if isinstance(x, (list, tuple)):\n    x = x[0]\nreturn x",
        "assert x.size(1) == 3\nreturn x",
        "y = torch.where(x > 0, x, -x)\nreturn y",
        "if self.training and x.sum() > 0:\n    x = x + 1\nreturn x",
        "if torch.jit.is_scripting() or x.ndim > 3:\n    return x\nreturn -x",
        "if torch.is_tensor(k):\n    return x * k\nreturn x",
        "if x.requires_grad or x.device.type == 'cuda':\n    return x\nreturn -x",
        "if not x.shape:\n    return x\nreturn -x",
        "mask = (x > 0) & (x < 1)\nreturn x * ~mask",
        "y = None\nfor _ in range(3):\n    y = x if y is None else y + x\nreturn y",
        "if torch.tensor([1, 2]).sum() > 2:\n    return x\nreturn -x",
    ] {
        check_forward(body);
    }
    check(&forward(
        "self.deep = True\nself.n = 4",
        "x, flag: bool = False",
        "if self.deep and flag or self.n > 2:\n    return x\nreturn -x",
    ));
    check(&forward(
        "",
        "x, keep: 'int | torch.Tensor' = 0",
        "if keep == 0:\n    return x\nreturn x[:, keep]",
    ));
    check(&forward(
        "",
        "x, temperature=1.0, mode='a'",
        "if temperature > 0 or mode == 'a':\n    return x\nreturn -x",
    ));
    check(
        "class Net(nn.Module):\n    def __init__(self, dim, lin=None):\n        self.lin = lin or nn.Linear(dim, dim)\n\n    \
         def forward(self, feats):\n        return self.lin(feats[0])\n",
    );
    check(&format!(
        "@torch.jit.script\ndef choose(t):\n    if t.sum() > 0:\n        return t\n    return -t\n\n{}",
        forward("", "x", "return choose(x)")
    ));
}

#[test]
fn contradictory_annotations_are_not_trusted() {
    let source = |kind: &str, mark: &str| {
        format!(
            "import torch\nfrom torch import nn\n\n\ndef add(shapes: {kind}, y):\n    for shape in shapes:{mark}\n        \
             y = y + shape\n    return y\n\n\nclass Net(nn.Module):\n    def forward(self, x: torch.Tensor, y):\n        \
             return add(x, y)\n"
        )
    };
    check(&source("torch.Tensor", "  #! unrolled-loop"));
    check(&source("list[tuple]", ""));
}

#[test]
fn loops_over_tensors_and_sizes_are_reported() {
    for body in [
        "h = 0\nfor t in range(x.shape[1]):  #! unrolled-loop\n    h = h + x[:, t]\nreturn h",
        "out = []\nfor row in x.relu():  #! unrolled-loop\n    out.append(row * 2)\nreturn torch.stack(out)",
        "b, n, c = x.shape\nout = torch.cat([x[:, i] for i in range(n)])  #! unrolled-loop\nreturn out",
        "for i, row in enumerate(x.float()):  #! unrolled-loop\n    k = k + row\nreturn k",
        "n = x.size(0) - 1\nfor i in reversed(range(n)):  #! unrolled-loop\n    k = k + x[i]\nreturn k",
        "i = 0\nT = x.shape[1]\nwhile i < T:  #! unrolled-loop\n    k = k + x[:, i]\n    i += 1\nreturn k",
        "for step in x.unbind(1):  #! unrolled-loop\n    k = k + step\nreturn k",
        "for i in range(0, x.size()[1], 2):  #! unrolled-loop\n    k = k + x[:, i]\nreturn k",
        "y = x.exp()\nreturn sum(y)  #! unrolled-loop",
        "y = x.exp()\nfor a, b in zip(y, y):  #! unrolled-loop\n    k = k + a * b\nreturn k",
        "y = x.exp()\nfor i in range(len(y)):  #! unrolled-loop\n    k = k + y[i]\nreturn k",
        "y = torch.stack(tuple(r for r in torch.unbind(x)))  #! unrolled-loop\nreturn y",
    ] {
        check_forward(body);
    }
    check(&format!(
        "def steps(cell, xs, h):\n    for t in range(xs.size(1)):  #! unrolled-loop\n        h = cell(xs[:, t], h)\n    return h\n\n{}",
        forward("self.cell = nn.GRUCell(4, 4)", "x", "return steps(self.cell, x, torch.zeros(1, 4))")
    ));
}

#[test]
fn loops_over_pieces_are_remarks() {
    check_forward("for piece in x.relu().split(4, dim=1):  #? unrolled-loop\n    k = k + piece\nreturn k");
}

#[test]
fn loops_of_constant_length_are_not_reported() {
    for body in [
        "for _ in range(3):\n    x = x + 1\nreturn x",
        "for f in (torch.sin, torch.cos):\n    x = f(x)\nreturn x",
        "for f in x:\n    k = k + f\nreturn k",
        "outs = [x, k]\nfor o in outs:\n    x = x + o\nreturn x",
        "for piece in x.chunk(3, dim=1):\n    k = k + piece\nreturn k",
        "for i in range(x.dim() - 2):\n    x = x.unsqueeze(-1)\nreturn x",
        "q, k, v = x.unbind(0)\nreturn q + k + v",
        "for d in x.shape:\n    k = k * d\nreturn k",
    ] {
        check_forward(body);
    }
    let init = "self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])\nself.steps = 3";
    check(&forward(
        init,
        "x",
        "for layer in self.layers:\n    x = layer(x)\nfor i in range(len(self.layers)):\n    x = self.layers[i](x)\nfor _ in range(self.steps):\n    x = x * 2\nreturn x",
    ));
    check(&forward("", "xs: list[Tensor]", "for x in xs:\n    x = x + 1\nreturn xs"));
}

#[test]
fn branches_on_sizes_are_remarks() {
    for body in [
        "if x.shape[0] > 1:  #? traced-branch\n    x = x + 1\nreturn x",
        "if x.size(1) % 2:  #? traced-branch\n    x = x[:, 1:]\nreturn x",
        "n = min(x.shape[1], 8)  #? traced-branch\nreturn x[:, :n]",
        "return x if len(x.relu()) == 2 else -x  #? traced-branch baked-shape",
    ] {
        check_forward(body);
    }
}

#[test]
fn loops_in_map_reduce_and_itertools_are_reported() {
    check_forward(
        "x = x.relu()\n\
         a = list(map(lambda row: row.exp(), x))  #! unrolled-loop\n\
         b = functools.reduce(torch.maximum, x.unbind(0))  #! unrolled-loop\n\
         c = [x[i] - x[j] for i, j in itertools.combinations(range(len(x)), 2)]  #! unrolled-loop\n\
         d = list(map(k, [1, 2]))\n\
         e = [i * j for i, j in itertools.product(range(2), range(3))]\n\
         return a, b, c, d, e",
    );
}

#[test]
fn comparison_of_shapes_is_a_remark() {
    check_forward(
        "x = x.relu()\nif x.shape != k.shape:  #? traced-branch\n    k = k[:, :3]\nreturn x + k.relu()",
    );
}

#[test]
fn handlers_of_a_body_that_raises_are_followed() {
    let body = "try:\n    raise ValueError()\nexcept ValueError:\n    y = x + 1\n";
    check_forward(&format!("{body}if x.sum() > 0:  #! traced-branch\n    x = x * 2\nreturn x"));
    let handled = "try:\n    raise ValueError()\nexcept ValueError:\n    return x.relu()\n";
    check_forward(&format!("{handled}if x.sum() > 0:\n    x = x * 2\nreturn x"));
}

#[test]
fn code_that_no_export_reaches_is_not_reported() {
    let tracing = "def _traced():\n    try:\n        return torch.jit.is_tracing()\n    except Exception:\n        \
        return False\n\n\ndef busy(x):\n    is_busy = other() or _traced()\n    is_busy |= another(x)\n    \
        return is_busy\n\n\n";
    let guarded = "if not busy(x) and (x == 0).all():\n    return None\nreturn x";
    check(&format!("{tracing}{}", forward("", "x, k", guarded)));
    check_forward(
        "if x.dtype == torch.float16 and not torch.isfinite(x).all():\n    x = x.clamp(-9, 9)\nreturn x",
    );
    let half =
        "if x.dtype is not None and torch.isfinite(x).all():  #! traced-branch\n    x = x + 1\nreturn x";
    check_forward(half);
    check_forward("x = x * 2\nif isinstance(x, np.ndarray):\n    return np.stack([x, x])\nreturn x.relu()");
    let padded = "def padded(seq):\n    if not isinstance(seq, torch.Tensor):\n        seq = torch.tensor(seq)\n    \
        return seq.relu()\n\n\n";
    check(&format!("{padded}{}", forward("", "x, k", "return padded(k)")));
}

#[test]
fn code_of_flash_attention_is_not_reported() {
    let body = |condition: &str, mark: &str| {
        let body = format!("if {condition}:\n    return x * x.max().item(){mark}\nreturn x");
        forward("self.config = load()", "x", &body)
    };
    check(&body("self.config._attn_implementation == 'flash_attention_2'", ""));
    check(&body("self.config._attn_implementation in ('flash_attention_2', 'flash_attention_3')", ""));
    check(&body("self.config._attn_implementation != 'flash_attention_2'", "  #! item-baked"));
    check(&body("self.config._attn_implementation == 'sdpa'", "  #! item-baked"));
    check(&body("self.config._attn_implementation == self.names['flash_x']", "  #! item-baked"));
    let import = "from transformers.utils.generic import is_flash_attention_requested\n\n\n";
    check(&format!("{import}{}", body("is_flash_attention_requested(self.config)", "")));
    check(&format!("{import}{}", body("not is_flash_attention_requested(self.config)", "  #! item-baked")));
}

#[test]
fn losses_are_remarks() {
    let net = |parameters: &str, body: &str| forward("", parameters, body);
    let loss = "y = x.relu()\nif labels is not None:\n    return y, (y - labels).mean().item()MARK\nreturn y";
    let optional = |mark: &str| net("x, labels=None", &loss.replace("MARK", mark));
    check(&optional("  #? item-baked"));
    check(&optional("  #! item-baked").replace("labels", "point_labels"));
    check(&optional("  #? item-baked").replace("labels", "sampled_negative_indices"));
    let choice = "return x, labels.max().item() if labels is not None else None  #? item-baked";
    check(&net("x, labels=None", choice));
    // A script shows which inputs its export passes.
    let export = "\n\ntorch.onnx.export(Net(), (torch.ones(2), torch.ones(2)), 'net.onnx', dynamo=False)\n";
    check(&format!("{}{export}", optional("  #! item-baked")));
    let required = "if k_labels is None:\n    raise ValueError(x)\nreturn x * x.max().item()  #! item-baked";
    check(&net("x, k_labels=None", required));
    check(&net("x, mask_labels", "loss = (x - mask_labels).mean().item()  #? item-baked\nreturn loss"));
    check(&net("x, mask_labels", "return (x - mask_labels).mean().item()  #! item-baked"));
}

#[test]
fn a_conversion_of_values_that_are_no_tensors_is_not_reported() {
    let to_int = "def to_int(x):\n    return x.to(torch.int64) if torch.jit.is_tracing() and \
                  isinstance(x, torch.Tensor) else int(x)\n\n\n";
    check(&format!("{to_int}{}", forward("", "x", "return x.relu()[: to_int(x.shape[0] / 2)]")));
}

#[test]
fn a_name_that_a_conditional_expression_assigns_is_followed() {
    check_forward(
        "y = (n := x.shape[0]) if k is None else (n := x.shape[1])\n\
         rows = [x[i] * i for i in range(n)]  #! unrolled-loop\nreturn sum(rows)",
    );
}

#[test]
fn a_guard_of_16_bits_holds_in_a_script_that_exports_them() {
    let body = "if x.dtype == torch.float16 and torch.isinf(x).any():MARK\n    x = x.clamp(-9, 9)\nreturn x";
    let script = |model: &str| format!("\n\ntorch.onnx.export({model}, torch.load('x.pt'), 'net.onnx')\n");
    check(&format!("{}{}", forward("", "x", &body.replace("MARK", "")), script("Net()")));
    check(&format!("{}{}", forward("", "x", &body.replace("MARK", "")), script("Net(  # not .half()\n)")));
    let marked = body.replace("MARK", "  #! traced-branch");
    for model in ["Net().half()", "Net().to('cpu', torch.half)", "Net().to(dtype := torch.float16)"] {
        check(&format!("{}{}", forward("", "x", &marked), script(model)));
    }
}

#[test]
fn a_size_that_is_checked_to_be_a_setting_is_constant() {
    let body = |check: &str, mark: &str| {
        let body =
            format!("n = x.shape[1]\n{check}rows = [x[:, i] * i for i in range(n)]{mark}\nreturn sum(rows)");
        forward("self.n = n", "x", &body)
    };
    check(&body("if n != self.n:\n    raise ValueError(n)\n", ""));
    check(&body("assert n == self.n\n", ""));
    check(&body("if n < self.n:\n    raise ValueError(n)\n", "  #! unrolled-loop"));
    check(&body("self.n = n\nassert n == self.n\n", "  #! unrolled-loop"));
}

#[test]
fn a_replaced_forward_is_a_remark() {
    let net = forward("", "x", "return x * x.sum().item()");
    let replace = "def fast(cls):\n    def forward(self, x):\n        return x\n    cls.forward = forward\n    \
        return cls\n\n\n@fast\n";
    let named = "def named(cls):\n    cls.title = 'net'\n    return cls\n\n\n@named\n";
    check(&format!("{replace}{}", net.replace(".item()", ".item()  #? item-baked")));
    check(&format!("{named}{}", net.replace(".item()", ".item()  #! item-baked")));
}
