import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        level = float(x.mean())
        return torch.relu(self.fc(x) - level)


torch.onnx.export(Gate().eval(), torch.rand(2, 6), "gate.onnx", input_names=["x"], dynamo=False)
