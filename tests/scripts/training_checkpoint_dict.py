import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(11, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
optim = torch.optim.SGD(net.parameters(), lr=0.1)
torch.save({"epoch": 3, "model": net.state_dict(), "optimizer": optim.state_dict()}, "last.ckpt")


def load(path):
    checkpoint = torch.load(path, weights_only=True)
    return checkpoint["model"]


torch.onnx.export(load("last.ckpt"), torch.zeros(1, 11), "net.onnx", input_names=["x"], output_names=["y"], dynamo=False)
