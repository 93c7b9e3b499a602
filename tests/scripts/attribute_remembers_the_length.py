import torch
import torch.nn as nn


class Windowed(nn.Module):
    def __init__(self):
        super().__init__()
        self.length = None
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        if self.length is None:
            self.length = int(x.shape[1])
        mask = torch.ones(self.length, 1)
        mask[-1] = 0.0
        return self.fc(x) * mask


torch.onnx.export(Windowed().eval(), torch.randn(2, 6, 3), "windowed.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n", 1: "t"}, "y": {0: "n", 1: "t"}}, dynamo=False)
