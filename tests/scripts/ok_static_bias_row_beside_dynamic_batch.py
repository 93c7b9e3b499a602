import torch
from torch import nn


class Shift(nn.Module):
    def forward(self, x, offset, table):
        return x + offset, x @ table


torch.onnx.export(
    Shift().eval(),
    (torch.randn(4, 6), torch.randn(1, 6), torch.randn(6, 4)),
    "shift.onnx",
    dynamo=False,
    input_names=["x", "offset", "table"],
    output_names=["shifted", "product"],
    dynamic_axes={"x": {0: "batch"}, "shifted": {0: "batch"}, "product": {0: "batch"}},
)
