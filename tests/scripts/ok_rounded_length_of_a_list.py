import torch
from torch import nn


class Keep(nn.Module):
    def __init__(self, part=0.25):
        super().__init__()
        self.part = part
        self.scores = nn.ModuleList([nn.Linear(8, 1) for _ in range(4)])

    def forward(self, rows):
        count = round(len(self.scores) * self.part) + round(len(rows) * 0.1)
        return self.scores[count](rows)


torch.onnx.export(Keep().eval(), torch.randn(2, 40, 8), "keep.onnx", dynamo=False,
                  input_names=["rows"], output_names=["best"])
