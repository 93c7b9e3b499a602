import torch
from torch import nn


class Bands(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(10, 4)

    def forward(self, bands):
        bands.transpose_(1, 2)
        return self.project(bands)


net = Bands().eval()
bands = torch.rand(2, 10, 30)
print(net(bands).shape)
torch.onnx.export(net, bands, "bands.onnx", input_names=["bands"], dynamo=False)
