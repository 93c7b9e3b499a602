import torch
import torch.nn as nn


class Secret(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 5))

    def forward(self, x):
        return self.layers(x)


torch.onnx.export(Secret().eval(), (torch.randn(2, 5),), "secret.onnx", export_params=False, dynamo=True,
                  input_names=["x"], output_names=["y"], dynamic_shapes=({0: "n"},))
