import torch
import torch.nn.functional as F
from torch import nn


class Thermal(nn.Module):
    def __init__(self, side=32):
        super().__init__()
        self.side = side
        self.head = nn.Linear(side * side, 4)

    def forward(self, x):
        x = F.interpolate(x, size=(self.side, self.side))
        return self.head(x.flatten(1))


torch.onnx.export(
    Thermal().eval(),
    (torch.randn(1, 1, 64, 64),),
    "thermal.onnx",
    input_names=["x"],
    dynamic_axes={"x": {2: "h", 3: "w"}},
    dynamo=False,
)
