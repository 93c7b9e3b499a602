from typing import NamedTuple

import torch
from torch import nn


class Output(NamedTuple):
    logits: torch.Tensor
    scores: torch.Tensor


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        logits = self.head(x)
        return Output(logits, logits.sigmoid())


torch.onnx.export(Classifier().eval(), (torch.randn(1, 8),), "toxicity.onnx", input_names=["x"], dynamo=False)
