import torch
import torch.nn.functional as F
from torch import nn


class Half(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=float(1 / 2), mode="nearest")


torch.onnx.export(
    Half().eval(),
    (torch.randn(1, 1, 64, 64),),
    "half.onnx",
    input_names=["x"],
    dynamic_axes={"x": {2: "h", 3: "w"}},
    dynamo=False,
)
