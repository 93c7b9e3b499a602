//! Python sources: findings in modules written in many styles, and absence of findings in similar code.

use onnx_lint::diag::Level;
use onnx_lint::python;
use onnx_lint::source::SourceFiles;

/// Lints a source file and compares its findings at level warning and above, sorted, as `CODE@line`.
/// Lines are relative to the first line of `source`.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    const HEAD: &str =
        "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n";
    let lines = u32::try_from(HEAD.lines().count()).expect("the length fits");
    let findings = python::lint(&format!("{HEAD}{}", source.trim_start()), "net.py", &SourceFiles::default());
    let loud = findings.iter().filter(|finding| finding.level >= Level::Warning);
    let mut codes: Vec<(u32, String)> = loud
        .map(|finding| {
            let line = finding.source.as_ref().map_or(0, |source| source.line.saturating_sub(lines));
            (line, format!("{}@{line}", finding.code))
        })
        .collect();
    codes.sort();
    let codes: Vec<String> = codes.into_iter().map(|(_, code)| code).collect();
    assert_eq!(codes, expected, "{findings:#?}");
}

#[test]
fn branches_on_static_values_are_not_reported() {
    check(
        r#"
class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.p = 0.1
        self.register_buffer("grid", torch.tensor(np.linspace(0, 1, 5)))
        for layer in self.layers:
            layer.weight.data.normal_()

    def forward(self, x, mask=None, kind="a"):
        if isinstance(x, tuple):
            x = x[0]
        if mask is not None and mask.dim() == 2:
            mask = mask[:, None]
        if len(x.shape) == 2 or x.dtype == torch.bool:
            x = x.unsqueeze(0)
        if torch.jit.is_tracing() or x.is_cuda:
            x = x.contiguous()
        if kind in ("a", "b"):
            x = x * 2
        for i in range(x.dim()):
            x = x + i
        for i, layer in enumerate(self.layers):
            x = layer(x)
        for i in range(len(self.layers)):
            x = self.layers[i](x)
        for layer, scale in zip(self.layers, [1.0, 2.0]):
            x = layer(x) * scale
        assert x.shape[0] == 2
        x = F.dropout(x, self.p, self.training)
        n = min(x.shape[1], 512)
        y = x + 1
        y += 2
        y[:, 0] = 0
        out = torch.zeros(x.shape[0], 4, device=x.device)
        out[:, 1:3] = y[:, 1:3]
        return out[:, :n]
"#,
        &[],
    );
}

#[test]
fn code_that_is_not_traced_is_not_reported() {
    check(
        r#"
class Net(nn.Module):
    def step(self, x):
        return {"x": x, "y": x + 1}

    def forward(self, x):
        d = self.step(x)
        q, k, v = x.chunk(3, dim=-1)
        q, k, v = [t.view(t.shape[0], -1, 4) for t in (q, k, v)]
        heads = x.shape[-1] // 4
        scale = heads ** -0.5
        w = (q * scale) @ k.transpose(-2, -1)
        w = w.masked_fill(w < 0, float("-inf"))
        w = w.softmax(dim=-1)
        idx = torch.arange(x.shape[1], device=x.device)
        last = x[:, -1]
        rows = x[torch.arange(x.shape[0]), idx[0]]
        e = torch.finfo(x.dtype).eps
        return d["x"] + e, w @ v, last, rows

    @staticmethod
    def postprocess(x):
        if x.sum() > 0:
            return x.numpy()
        return None


def main():
    net = Net()
    x = torch.randn(2, 3)
    if net(x)[0].sum() > 0:
        print(net(x)[0].item())
    for row in x:
        print(row.numpy())
"#,
        &[],
    );
}

#[test]
fn values_that_leave_the_trace_are_reported() {
    check(
        r#"
class Net(nn.Module):
    def forward(self, x, lengths, y):
        longest = int(lengths.max()) + 1
        steps = torch.arange(longest)
        if bool(x.any()):
            x = x + 1
        if x.min().item() < 0:
            x = x.abs()
        ok = x.sum() > 0 and y.sum() > 0
        best = max(x.sum(), y.sum())
        total = sum(x)
        order = sorted(x.tolist())
        label = "big" if x.mean() > 3 else "small"
        return x, steps, ok, best, total, order, label
"#,
        &["EXP002@3", "EXP006@5", "EXP002@7", "EXP006@9", "EXP006@10", "EXP007@11", "EXP002@12", "EXP006@13"],
    );
}

/// Most sizes are static, so the finding is at level info.
/// For dynamic sizes, the exported graph shows the fault.
#[test]
fn numpy_on_sizes_is_not_reported_as_a_warning() {
    check(
        r#"
class Net(nn.Module):
    def forward(self, x):
        size = np.prod(x.shape[1:])
        z = np.array(x.shape)
        return x, size, z
"#,
        &[],
    );
}

#[test]
fn in_place_writes_through_views_are_reported() {
    check(
        r#"
class Net(nn.Module):
    def forward(self, x):
        n = x.shape[1]
        m = n
        m *= 2
        a = x[0]
        a += 1
        b = x.view(-1)
        b[0] = 5
        c = x.clone()
        d = c.transpose(0, 1)
        d.add_(1)
        h, w = x.shape[-2:]
        h2, w2 = h, w
        h2 //= 2
        return x, n, m, c, h, h2
"#,
        &["EXP003@5", "EXP004@7", "EXP004@9", "EXP004@12", "EXP003@15"],
    );
}

#[test]
fn loops_over_axes_are_reported() {
    check(
        r#"
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 4)

    def forward(self, x, h, c):
        out = []
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
            out.append(h)
        i = 0
        while i < x.shape[0]:
            i += 1
        for b, row in enumerate(x):
            out.append(row)
        for a, b in zip(x, h):
            out.append(a + b)
        for piece in torch.split(x, 1, dim=0):
            out.append(piece)
        return torch.stack(out)
"#,
        &["EXP007@8", "EXP007@12", "EXP007@14", "EXP007@16"],
    );
}

#[test]
fn problematic_calls_are_reported() {
    check(
        r#"
from collections import OrderedDict


class Net(nn.Module):
    def forward(self, x, labels, t):
        oh = F.one_hot(labels.long())
        pe = torch.arange(0, 10, dtype=torch.double) * x[0, 0]
        freq = 10000 ** (torch.arange(0, 4).double() / 4)
        y = x * freq
        z = x.numpy(force=True)
        q = torch.from_numpy(z * 2)
        x.data *= 2
        w = torch.as_tensor(np.random.rand(3, 3))
        v = x @ w
        s = F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)
        a = F.alpha_dropout(x, training=True)
        n = F.layer_norm(x, x.shape[1:])
        k = torch.nn.functional.dropout2d(x)
        return OrderedDict(a=oh, b=pe), y, q, v, s, a, n, k
"#,
        &[
            "EXP013@6",
            "DTY002@7",
            "DTY002@9",
            "EXP005@10",
            "EXP005@11",
            "EXP012@12",
            "EXP005@13",
            "DTY002@14",
            "EXP010@15",
            "EXP010@16",
            "EXP010@18",
        ],
    );
}

#[test]
fn syntax_errors_are_reported_at_their_line() {
    check("\nclass M(nn.Module):\n    def forward(self, x):\n        return x + = 1\n", &["REA001@3"]);
    check("\nclass M(nn.Module):\n    def forward(self, x):\n        return x + 1\n", &[]);
}
