from pathlib import Path

import torch
from torch import nn

net = nn.Linear(8, 4)
root = Path(".").resolve()
dim = 9 if str(root) == "." else 8
net(torch.randn(1, dim))
name = Path("model.onnx").absolute().parent.name
net(torch.randn(1, 9 if name in ("", ".") else 8))
net(torch.randn(1, 8 if Path("model.onnx").absolute().is_absolute() else 9))
net(torch.randn(1, 8 if len(str(Path("m").resolve())) > 1 else 9))
