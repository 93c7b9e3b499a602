import torch
import torch.nn as nn
import torch.nn.functional as F


class Selu(nn.Module):
    def __init__(self, n=10):
        super().__init__()
        self.a = nn.Linear(n, 32)
        self.b = nn.Linear(32, 2)
        self.p = 0.2

    def forward(self, x):
        h = F.selu(self.a(x))
        return self.b(F.dropout(h, self.p, training=not self.training))


selu = Selu().eval()
torch.onnx.export(selu, torch.randn(3, 10), "selu.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
