import torch
from torch import nn


def build(features, classes):
    return nn.Sequential(nn.LSTM(features, 32, batch_first=True), nn.Linear(32, classes))


model = build(6, 4).eval()
torch.onnx.export(model, (torch.randn(1, 20, 6),), "gas.onnx", input_names=["x"], dynamo=False)
