import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 4, 2, 1)

    def forward(self, x):
        if x.shape[-1] % 2 == 1:
            x = F.pad(x, (0, 1))
        x = self.conv(x)
        if x.dim() == 3:
            x = x[None]
        return x.flatten(2) if x.shape[1] == 4 else x


torch.onnx.export(Net().eval(), torch.randn(1, 1, 16, 33), "net.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "b", 2: "h"}, "y": {0: "b"}}, dynamo=False)
