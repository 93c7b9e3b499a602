from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    batch: int = 3
    width: int = 8


class Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.start = nn.Parameter(torch.zeros(1, 1, cfg.width))

    def tokens(self, count):
        return self.start.repeat(count, 1, 1)

    def forward(self, x):
        start = self.tokens(self.cfg.batch)
        x = torch.cat([start, x], dim=1)
        return x.mean(1)


cfg = Config()
torch.onnx.export(Model(cfg).eval(), torch.randn(cfg.batch, 5, cfg.width), "model.onnx", input_names=["x"],
                  output_names=["y"], dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, dynamo=False)
