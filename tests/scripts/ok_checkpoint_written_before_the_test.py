import os

import torch
from torch import nn

A = nn.Linear(8, 4)
B = nn.Linear(8, 16)
torch.save(B.state_dict(), "m.pt")
if not os.path.exists("m.pt"):
    torch.save(A.state_dict(), "m.pt")
net = nn.Linear(8, 16)
net.load_state_dict(torch.load("m.pt"))
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
