//! Tests of numbers of the example that change the results of an export at other sizes.
//!
//! The expectations were recorded by running PyTorch 2.15 and ONNX Runtime 1.32 at two sizes.

use super::*;

/// Returns true if a script that traces a model has an error about a constant number.
fn is_wrong(body: &str) -> bool {
    let init = "super().__init__()\nself.fc = nn.Linear(4, 4)\nself.norm = nn.LayerNorm(4)";
    let call = "torch.onnx.export(Net().eval(), (torch.randn(2, 5, 4),), 'net.onnx', input_names=['x'], \
                dynamic_axes={'x': {0: 'batch', 1: 'time'}}, dynamo=False)";
    let text = format!("{PRELUDE}{}\n\n{call}\n", forward(init, "x", body));
    let findings = lint(&text, "net.py", &SourceFiles::default());
    findings.iter().any(|finding| finding.level == Level::Error)
}

#[test]
fn numbers_of_dynamic_sizes_make_results_wrong() {
    for body in [
        "return self.fc(x).sum(1) / float(x.shape[1])",
        "return self.fc(x).sum(1) / len(x[0])",
        "h = self.fc(x)\nh /= int(x.size(1))\nreturn torch.relu(h)",
        "n = np.sqrt(x.shape[1])\nreturn self.fc(x).mul(n)",
        "return self.fc(x) + math.log(x.shape[1])",
        "h = self.fc(x) * len(x[0])\nreturn torch.softmax(h, -1)",
        "s = self.fc(x) * len(x[0])\nreturn torch.softmax(s, -1) @ x",
        "w = torch.tensor([x.shape[1]])\nreturn torch.cat([x / w, x], -1)",
    ] {
        assert!(is_wrong(body), "{body}");
    }
}

#[test]
fn operators_that_undo_a_deviation_end_it() {
    for body in [
        "return self.norm(x * len(x[0]))",
        "h = x / len(x[0])\nreturn h / h.norm(dim=-1, keepdim=True).clamp(min=1e-9)",
        "h = x / len(x[0])\nreturn h / h.max(dim=-1, keepdim=True).values",
        "h = torch.cat([x, x * len(x[0])], -1)\nreturn h[..., :4]",
        "h = x * len(x[0])\nreturn x.type_as(h)",
        "h = x * len(x[0])\nreturn h * torch.full_like(x, 1.0 / len(x[0]))",
        "h = x * len(x[0])\nh = h.div_(len(x[0]))\nreturn h",
        "s = torch.softmax(x * len(x[0]), -1)\nreturn s.sum(-1)",
        "return F.normalize(self.fc(x) / float(x.shape[1]), dim=-1)",
        "h = x * len(x[0])\nreturn h / h.sum(-1, keepdim=True)",
        "return torch.softmax(x + math.log(x.shape[1]), -1)",
        "h = x * len(x[0])\nreturn h / len(x[0])",
        "h = torch.exp(x - len(x[0]))\nreturn h / h.sum(-1, keepdim=True)",
        "g = x / len(x[0])\nreturn self.norm(x - g)",
        "return (x * len(x[0])).argmax(-1)",
        "return x * len(x[0]) * 0",
        "h = x * len(x[0])\nh.zero_()\nreturn h + x",
        "h = x * len(x[0])\nreturn self.fc(x)",
        "return x * (len(x[0]) // 100)",
        "return x * len(x[0][0])",
        "return x / x.shape[1]",
    ] {
        assert!(!is_wrong(body), "{body}");
    }
}

#[test]
fn loops_with_a_fixed_count_lose_iterations() {
    for body in [
        "s = x[:, 0]\nfor t in range(x.shape[1]):\n    s = 0.9 * s + self.fc(x[:, t])\nreturn s",
        "s = x[:, 0]\nfor part in x.unbind(1):\n    h = self.fc(part)\n    s += h\nreturn torch.tanh(s)",
    ] {
        assert!(is_wrong(body), "{body}");
    }
    for body in [
        "for t in range(x.shape[1]):\n    s = self.fc(x)\nreturn s",
        "s = x[:, 0]\nfor row in x.unbind(1):\n    if row.shape[0] > 3:\n        continue\n    s = s + row\nreturn s",
        "s = x[:, 0]\nfor row in x.unbind(1):\n    s = torch.maximum(s, row.clamp(0, 1))\nreturn s",
        "s = x[:, 0]\nfor row in x.unbind(1):\n    s = s + row\n    s = x[:, 0]\nreturn s",
        "s = x[:, 0]\nfor row in x.unbind(1):\n    s = s + row.shape[0]\nreturn s",
        "s = x[:, 0]\nfor t in range(x.shape[1]):\n    s = s + x[:, t]\n    if t == 2:\n        break\nreturn s",
    ] {
        assert!(!is_wrong(body), "{body}");
    }
}
