import torch
import torch.nn as nn


class Temperature(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)

    def forward(self, x, scale=2.0):
        return self.fc(x) / scale


torch.onnx.export(Temperature().eval(), (torch.randn(2, 5),), "temperature.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False)
