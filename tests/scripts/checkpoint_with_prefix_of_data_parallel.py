import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(x)


wrapped = nn.DataParallel(Net())
torch.save(wrapped.state_dict(), "wrapped.pt")
net = Net()
net.load_state_dict(torch.load("wrapped.pt"))
torch.onnx.export(net.eval(), torch.randn(1, 8), "net.onnx", dynamo=False)
