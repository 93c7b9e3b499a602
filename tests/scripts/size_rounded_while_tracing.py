import torch
from torch import nn


class Keep(nn.Module):
    def __init__(self, part=0.25):
        super().__init__()
        self.part = part
        self.score = nn.Linear(8, 1)

    def forward(self, rows):
        scores = self.score(rows).squeeze(-1)
        count = max(1, round(rows.shape[1] * self.part))
        return scores.topk(count, dim=1).values


torch.onnx.export(Keep().eval(), torch.randn(1, 40, 8), "keep.onnx", dynamo=False,
                  input_names=["rows"], output_names=["best"], dynamic_axes={"rows": {0: "batch"}})
