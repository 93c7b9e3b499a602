import torch
import torch.nn as nn


class Multi(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(5, 4)

    def forward(self, left, right):
        return self.a(left) + self.b(right)


inputs = {"left": torch.randn(2, 3), "right": torch.randn(2, 5)}
torch.onnx.export(Multi().eval(), inputs, "multi.onnx", input_names=["left", "right"], output_names=["y"])
