import torch
from torch import nn


class Messages(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.send = nn.Linear(width, width)

    def forward(self, x, edges):
        messages = self.send(x)[edges[0]]
        return torch.zeros_like(x).scatter_add(0, edges[1].unsqueeze(1).expand_as(messages), messages)


x = torch.randn(6, 8)
edges = torch.randint(0, 6, (2, 20))
torch.onnx.export(
    Messages().eval(), (x, edges), "messages.onnx", opset_version=15, dynamo=False,
    input_names=["x", "edges"], output_names=["y"],
    dynamic_axes={"x": {0: "nodes"}, "edges": {1: "edges"}, "y": {0: "nodes"}},
)
