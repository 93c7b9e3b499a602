import torch
from torch import nn
def build(state):
    net = Net()
    net.load_state_dict(state)
    return net
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        return self.fc(x)
class Wrapper(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def __reduce__(self):
        from collections import OrderedDict
        return (OrderedDict, (list(self.net.state_dict().items()),))
net = Net()
torch.save(Wrapper(net), "n.pt")
net.load_state_dict(torch.load("n.pt"))
torch.onnx.export(net, (torch.randn(2, 8),), "m.onnx", dynamo=False)
