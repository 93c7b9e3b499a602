import torch
from torch import nn


def train(path):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    torch.save(model.state_dict(), path)


train("weights.pt")
model = torch.load("weights.pt")
model.eval()
torch.onnx.export(model, torch.randn(1, 4), "net.onnx", dynamo=False)
