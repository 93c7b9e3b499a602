import torch
from torch import nn


class Update(nn.Module):
    def forward(self, x, rows, change):
        return x.index_add(0, rows, change)


x = torch.randn(6, 8)
rows = torch.tensor([4, 0, 2])
torch.onnx.export(
    Update().eval(), (x, rows, torch.randn(3, 8)), "update.onnx", opset_version=17, dynamo=False,
    input_names=["x", "rows", "change"], output_names=["y"],
)
