import torch
from torch import nn


class First(nn.Module):
    def forward(self, pair):
        return pair[0]


model = nn.Sequential(nn.LSTM(6, 32, batch_first=True), First(), nn.Linear(32, 4)).eval()
torch.onnx.export(model, (torch.randn(1, 20, 6),), "gas.onnx", input_names=["x"], dynamo=False)
