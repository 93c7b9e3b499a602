import torch
import torch.nn as nn


class Threshold(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    def forward(self, x, threshold):
        y = self.fc(x)
        return torch.where(y > threshold, y, y * 0.01)


torch.onnx.export(Threshold(5).eval(), (torch.randn(2, 5), torch.tensor(0.25)), "threshold.onnx",
                  input_names=["x", "threshold"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}},
                  dynamo=False)
