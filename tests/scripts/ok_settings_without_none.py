from dataclasses import asdict, dataclass
from typing import Optional
import torch
from torch import nn


@dataclass
class Config:
    dim: int = 8
    out: Optional[int] = None
    name: Optional[str] = None


def without_none(items):
    return {key: value for key, value in items if value is not None}


class Net(nn.Module):
    def __init__(self, dim, out=4):
        super().__init__()
        self.fc = nn.Linear(dim, out)

    def forward(self, x):
        return self.fc(x)


net = Net(**asdict(Config(), dict_factory=without_none)).eval()
torch.onnx.export(net, torch.randn(2, 8), "n.onnx", input_names=["x"], dynamo=False)
