import torch
from torch import nn


class Dialog(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.head = nn.Linear(width, 3)
        self.history = []

    def forward(self, x):
        v = self.embed(x)
        self.history.append(v)
        return self.head(torch.stack(self.history[-4:]).mean(0))


net = Dialog().eval()
with torch.no_grad():
    print(net(torch.randn(1, 8)).shape)
net.history.clear()
torch.onnx.export(net, (torch.randn(1, 8),), "dialog.onnx", input_names=["x"], dynamo=False)
