import torch
from torch import nn


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 3, padding=1)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.BatchNorm1d(8)

    def train(self, mode=True):
        super().train(mode)
        self.head.eval()
        return self

    def forward(self, x):
        return self.head(self.norm(self.conv(x)).mean(-1))


speech = Speech().train()
print(speech(torch.randn(1, 4, 20)).shape)
speech.eval()
torch.onnx.export(speech, (torch.randn(1, 4, 20),), "speech.onnx", dynamo=False)
