from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor = None


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return Output(logits=self.head(x))


torch.onnx.export(Classifier().eval(), (torch.randn(1, 8),), "toxicity.onnx", input_names=["x"], dynamo=False)
