import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keep", torch.tensor([True, False, True, True]))
        self.heads = nn.ModuleList(nn.Linear(8, 2) for _ in range(3))
        self.fc = nn.Linear(8, 2)
    def forward(self, x):
        rows = x[self.keep]
        out = []
        for row in rows:
            out.append(self.fc(row))
        return torch.stack(out)
x = torch.randn(4, 8)
net = Net().eval()
net(x)
torch.onnx.export(net, (x,), "m.onnx", dynamo=False)
