import torch
import torch.nn as nn

OPSETS = {"default": None, "new": 24}


class Rms(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(8)
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(self.norm(x))


torch.onnx.export(Rms().eval(), (torch.randn(2, 3, 8),), "rms24.onnx", opset_version=OPSETS["new"], dynamo=True,
                  input_names=["x"], output_names=["y"], dynamic_shapes=({0: "n", 1: "t"},))
