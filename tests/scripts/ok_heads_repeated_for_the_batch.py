import torch
from torch import nn


class Dec(nn.Module):
    def __init__(self, batch=2, layers=2):
        super().__init__()
        self.batch = batch
        self.layers = layers
        self.rnn = nn.GRU(4, 8, layers, batch_first=True)
        self.q = nn.Parameter(torch.zeros(2, 8))
    def forward(self, x):
        h = torch.zeros(self.layers, x.size(0), 8)
        q = self.q.unsqueeze(0).repeat(x.size(0), 1, 1)
        y, _ = self.rnn(x, h)
        return y @ q.transpose(1, 2)


torch.onnx.export(Dec().eval(), torch.randn(2, 5, 4), "w.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "b", 1: "t"}, "y": {0: "b", 1: "t"}}, dynamo=False)
