"""Creates the TorchScript graphs of this folder: python make.py OUT_DIR.

All graphs except `loop` have weights, inputs and outputs. Needs torch and safetensors. The committed graphs have
shortened paths, no debug files, and weights in only one format; the files of `lstm` are not committed.
"""
import torch, numpy as np, sys, os
from torch import nn
from torch.nn import functional as F
from safetensors.torch import save_file
torch.manual_seed(0); torch.set_num_threads(1)
out = sys.argv[1]; os.makedirs(out, exist_ok=True)
class Conv(nn.Module):
    def __init__(s):
        super().__init__(); s.c = nn.Conv2d(3, 4, 3, padding=1, bias=False); s.n = nn.BatchNorm2d(4); s.f = nn.Linear(4, 5)
        s.n.running_mean.normal_(); s.n.running_var.uniform_(0.5, 1.5)
    def forward(s, x):
        x = F.max_pool2d(F.relu(s.n(s.c(x))), 2)
        return F.log_softmax(s.f(x.mean((2, 3))), -1)
class Attention(nn.Module):
    def __init__(s):
        super().__init__(); s.e = nn.Embedding(11, 8); s.q = nn.Linear(8, 24); s.o = nn.Linear(8, 8); s.n = nn.LayerNorm(8)
    def forward(s, ids):
        x = s.e(ids); b, t, d = x.shape
        q, k, v = s.q(s.n(x)).reshape(b, t, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        w = (q @ k.transpose(-1, -2)) * 0.5
        w = w.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf")).softmax(-1)
        return x + s.o((w @ v).transpose(1, 2).reshape(b, t, d)), w.argmax(-1)
class Writes(nn.Module):
    def __init__(s):
        super().__init__(); s.register_buffer("scale", torch.rand(4))
    def forward(s, x):
        y = x.clone(); y[:, 1:3] *= s.scale[1:3]; y[0].add_(1); a, b = y.chunk(2, 1)
        return torch.cat([a, b.flip(0)], 1), y.to(torch.float64).sum((0,)), x.size(0) * a
class Lstm(nn.Module):
    def __init__(s): super().__init__(); s.r = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
    def forward(s, x): return s.r(x)
for name, net, given in (("conv", Conv(), torch.randn(2, 3, 8, 8)), ("attention", Attention(), torch.randint(0, 11, (2, 5))),
                         ("writes", Writes(), torch.randn(3, 4)), ("lstm", Lstm(), torch.randn(2, 5, 4))):
    net.eval()
    traced = torch.jit.trace(net, (given,))
    open(f"{out}/{name}.torchir.txt", "w").write(str(traced.inlined_graph))
    torch.save(net.state_dict(), f"{out}/{name}.pth")
    traced.save(f"{out}/{name}.pt")
    with torch.no_grad(): got = net(given)
    flat = lambda v: [v] if isinstance(v, torch.Tensor) else [o for p in v for o in flat(p)]
    np.savez(f"{out}/{name}.npz", in0=given.numpy(), **{f"out{i}": o.numpy() for i, o in enumerate(flat(got))})
    save_file(net.state_dict(), f"{out}/{name}.safetensors")
class Loop(nn.Module):
    def forward(s, x, n: int):
        for i in range(n): x = x * 2 if i > 1 else x + 1
        return x
open(f"{out}/loop.torchir.txt", "w").write(str(torch.jit.script(Loop()).inlined_graph))
