import torch
from torch import nn


class Columns(nn.Module):
    def forward(self, x):
        turned = x.permute(1, 2, 0)
        joined = turned.view(-1, x.size(0))
        single = x[:1].transpose(0, 1).view(-1)
        back = turned.permute(2, 0, 1).view(x.size(0), -1)
        return joined, single, back


torch.onnx.export(Columns(), torch.zeros(3, 4, 5), "columns.onnx", dynamo=False)
