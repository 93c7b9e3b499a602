import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(n))

    def forward(self, x, threshold):
        x = x * self.scale
        return torch.where(x.abs() > threshold, x, torch.zeros_like(x))


gate = Gate(9).eval()
torch.onnx.export(gate, (torch.randn(4, 9), 0.5), "gate.onnx",
                  input_names=["x", "threshold"], output_names=["y"],
                  dynamic_shapes=({0: "rows"}, None), dynamo=True)
