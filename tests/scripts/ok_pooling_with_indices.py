import torch
import torch.nn.functional as F
from torch import nn


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.head = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        pooled, places = self.pool(x)
        return self.head(pooled), places


torch.onnx.export(Segmenter().eval(), (torch.randn(1, 3, 8, 8),), "segments.onnx", dynamo=False)
