import random

import torch
import torch.nn as nn


class BandMask(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.width = width

    def forward(self, spec):
        start = random.randint(0, 40 - self.width)
        mask = torch.ones(1, 40, 1)
        mask[:, start:start + self.width] = 0
        return spec * mask


class Whistles(nn.Module):
    def __init__(self):
        super().__init__()
        self.augment = BandMask()
        self.net = nn.Conv1d(40, 4, 3, padding=1)

    def forward(self, spec):
        return self.net(self.augment(spec)).mean(-1)


model = Whistles().eval()
torch.onnx.export(model, (torch.randn(2, 40, 60),), "whistles.onnx", dynamo=False, opset_version=17)
