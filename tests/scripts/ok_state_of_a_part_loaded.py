import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.body(x))


torch.save(Net(10).state_dict(), "ten.pth")
state = torch.load("ten.pth", weights_only=True)
state = {key: value for key, value in state.items() if not key.startswith("head.")}
net = Net(2)
net.load_state_dict(state, strict=False)
torch.onnx.export(net.eval(), torch.randn(1, 4), "net.onnx", dynamo=False)
