import torch
import torch.nn.functional as F
from torch import nn


class Merge(nn.Module):
    """`high` always has twice the size of `low`."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 3, 1)

    def forward(self, low, high):
        up = F.interpolate(low, scale_factor=2.0)
        if up.shape[-2:] != high.shape[-2:]:
            up = F.interpolate(up, size=high.shape[-2:])
        return self.conv(torch.cat([up, high], 1))


torch.onnx.export(Merge().eval(), (torch.randn(1, 3, 4, 4), torch.randn(1, 3, 8, 8)), "n.onnx", input_names=["low", "high"],
                  dynamic_axes={"low": {0: "n", 2: "h", 3: "w"}, "high": {0: "n", 2: "2*h", 3: "2*w"}}, dynamo=False)
