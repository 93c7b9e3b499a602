import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, batch=3):
        super().__init__()
        self.batch = batch
        self.start = nn.Parameter(torch.zeros(1, 1, 8))
        self.table = nn.Parameter(torch.zeros(batch, 8))

    def tokens(self, count):
        return self.start.expand(count, -1, -1)

    def forward(self, x):
        b = x.shape[0]
        x = torch.cat([self.tokens(b), x], dim=1)
        extra = self.start.repeat(1, self.batch, 1)
        return (x + extra.sum(1, keepdim=True)).mean(1) @ self.table.t()


torch.onnx.export(Model().eval(), torch.randn(3, 5, 8), "model.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, dynamo=False)
