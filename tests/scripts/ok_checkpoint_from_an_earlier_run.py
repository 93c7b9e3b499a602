import os

import torch
from torch import nn


def build(hidden):
    return nn.Sequential(nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, 2))


wide, narrow = build(32), build(16)
best = float("inf")
for epoch in range(3):
    loss = wide(torch.randn(4, 8)).pow(2).mean().item()
    if loss < best and os.environ.get("KEEP"):
        torch.save(wide.state_dict(), "best.pt")
if not os.path.exists("best.pt"):
    torch.save(narrow.state_dict(), "best.pt")
narrow.load_state_dict(torch.load("best.pt"))

torch.save(wide.state_dict(), "wide.pt")
try:
    narrow.load_state_dict(torch.load("wide.pt"))
except RuntimeError as error:
    print("other sizes:", error)
state = torch.load("wide.pt")
own = narrow.state_dict()
fitting = {key: value for key, value in state.items() if own[key].shape == value.shape}
narrow.load_state_dict(fitting, strict=False)
torch.onnx.export(narrow.eval(), torch.randn(1, 8), "narrow.onnx", dynamo=False)
