import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


torch.save(Net().state_dict(), "w.pt")
net = Net().load_state_dict(torch.load("w.pt"))
torch.onnx.export(net, torch.rand(1, 2), "n.onnx", dynamo=False)
