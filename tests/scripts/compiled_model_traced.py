import torch
import torch.nn as nn


class Score(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 1)

    def forward(self, x):
        return self.fc(x).sigmoid()


def load(fast: bool):
    net = Score().eval()
    return torch.compile(net, backend="eager") if fast else net


net = load(fast=True)
print(net(torch.zeros(2, 5)).shape)
torch.onnx.export(net, torch.zeros(2, 5), "score.onnx", input_names=["x"], output_names=["p"], dynamo=False)
