import torch
import torch.nn as nn


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv1d(4, 4, 3, padding=1)

    def forward(self, signal):
        return self.c(signal)


axes = {"signal": {0: "batch", 3: "time"}, "out": {0: "batch", 2: "time"}}
torch.onnx.export(Conv().eval(), torch.rand(2, 4, 50), "conv.onnx", input_names=["signal"], output_names=["out"],
                  dynamic_axes=axes, dynamo=False)
