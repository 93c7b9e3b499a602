import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes=2, hidden=16):
        super().__init__()
        self.body = nn.Linear(8, hidden)
        self.register_buffer("scale", torch.ones(hidden), persistent=False)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.body(x) * self.scale)


pretrained = nn.DataParallel(Net(classes=100))
torch.save(pretrained.state_dict(), "pretrained.pt")
state = torch.load("pretrained.pt")
state = {key.replace("module.", ""): value for key, value in state.items()}
for key in list(state):
    if key.startswith("head"):
        state.pop(key)
net = Net()
net.load_state_dict(state, strict=False)

# The head is replaced before its state is loaded.
other = Net(classes=5)
torch.save(other.state_dict(), "five.pt")
net.head = nn.Linear(16, 5)
net.load_state_dict(torch.load("five.pt"))

# The file is written again, by a model of the same sizes.
torch.save(Net(hidden=4).state_dict(), "five.pt")
torch.save(net.state_dict(), "./five.pt")
net.load_state_dict(torch.load("five.pt"))
torch.onnx.export(net.eval(), torch.randn(1, 8), "net.onnx", dynamo=False)
