from enum import Enum

import torch
from torch import nn

class Kind(Enum):
    SMALL = "small"
    LARGE = "large"
kind = Kind.LARGE
dim = 8 if kind.name == "LARGE" else 4
net = nn.Linear(8, 4)
torch.onnx.export(net.eval(), (torch.randn(1, dim),), "a.onnx", dynamo=False)
