from pathlib import Path

import torch
from torch import nn

ROOT = Path("ckpt"); ROOT.mkdir(exist_ok=True)
P = ROOT / "m.pt"
net = nn.Linear(8, 16)
with open(P, "wb") as f:
    torch.save(net.state_dict(), f)
if not P.exists():
    torch.save(nn.Linear(8, 4).state_dict(), P)
net.load_state_dict(torch.load(P))
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
