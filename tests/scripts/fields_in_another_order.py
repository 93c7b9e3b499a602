from typing import NamedTuple

import torch
from torch import nn


class Poles(NamedTuple):
    north: torch.Tensor
    south: torch.Tensor


class Compass(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(5, 1), nn.Linear(5, 1)

    def forward(self, field):
        return Poles(south=self.down(field), north=self.up(field))


torch.onnx.export(Compass().eval(), torch.rand(2, 5), "compass.onnx", input_names=["field"],
                  output_names=["south", "north"], dynamic_axes={"field": {0: "n"}}, dynamo=False)
