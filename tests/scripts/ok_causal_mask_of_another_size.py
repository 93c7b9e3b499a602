import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, n=64):
        super().__init__()
        self.enc = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.register_buffer("mask", torch.triu(torch.ones(n, n, dtype=torch.bool), 1))
    def forward(self, x):
        return self.enc(x, src_mask=self.mask, is_causal=True)
net = Net().eval()
net(torch.randn(2, 8, 16))
torch.onnx.export(net, (torch.randn(2, 8, 16),), "m.onnx", dynamo=False, input_names=["x"])
