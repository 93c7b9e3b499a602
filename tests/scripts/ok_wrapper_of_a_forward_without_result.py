import torch
from torch import nn


class Recorder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x):
        self.last = self.layer(x)


class Wrapper(nn.Module):
    def __init__(self, recorder):
        super().__init__()
        self.recorder = recorder

    def forward(self, x):
        self.recorder(x)
        return self.recorder.last


torch.onnx.export(Wrapper(Recorder()).eval(), torch.randn(1, 6), "wrapper.onnx", dynamo=False,
                  input_names=["x"], output_names=["y"])
