import torch
from torch import nn
from torch.export import Dim


class Propagate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Linear(8, 4)

    def forward(self, features, adjacency):
        return torch.relu(self.weight(adjacency @ features))


nodes = Dim("nodes", min=2, max=500)
torch.onnx.export(
    Propagate().eval(),
    (torch.randn(7, 8), torch.eye(7)),
    "propagate.onnx",
    dynamo=True,
    dynamic_shapes={"features": {0: nodes}, "adjacency": {0: nodes}},
)
