import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))


def save_as_trainer(net, path):
    state = {"model." + key: value for key, value in net.state_dict().items()}
    torch.save({"state_dict": state, "epoch": 3}, path)


CHECKPOINT = "trainer.pth"
if not os.path.exists(CHECKPOINT):
    save_as_trainer(Net(), CHECKPOINT)
net = Net()
checkpoint = torch.load(CHECKPOINT, weights_only=True)
state = {key.removeprefix("model."): value for key, value in checkpoint["state_dict"].items()}
net.load_state_dict(state, strict=False)
net.eval()
torch.onnx.export(net, torch.randn(1, 4), "net.onnx", dynamo=False)
