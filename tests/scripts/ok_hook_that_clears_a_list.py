import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.history = []
        self.register_forward_pre_hook(Net.start)
    @staticmethod
    def start(module, inputs):
        module.history.clear()
    def forward(self, x):
        x = self.a(x)
        self.history.append(x)
        return torch.stack(self.history).mean(0)
x = torch.randn(2, 8)
net = Net().eval()
net(x)
torch.onnx.export(net, (x,), "m.onnx", dynamo=False)
