import torch
from torch import nn


class MaskedMean(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, tokens, mask):
        hidden = self.project(tokens)
        kept = hidden * mask.unsqueeze(-1)
        return kept.sum(1) / mask.sum(1, keepdim=True).clamp(min=1.0)


model = MaskedMean(16).eval()
tokens = torch.randn(3, 12, 16)
mask = torch.ones(3, 12)
torch.onnx.export(
    model,
    (tokens, mask),
    "masked_mean.onnx",
    dynamo=False,
    input_names=["tokens", "mask"],
    output_names=["mean"],
    dynamic_axes={"tokens": {0: "batch", 1: "length"}, "mean": {0: "batch"}},
)
