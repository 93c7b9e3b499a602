import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


torch.save(build().state_dict(), "weights.pt")
loaded = torch.load("weights.pt")
if isinstance(loaded, dict):
    model = build()
    model.load_state_dict(loaded)
else:
    model = loaded
model.eval()
torch.onnx.export(model, torch.randn(1, 4), "net.onnx", dynamo=False)
