import torch
import torch.nn as nn
import torch.nn.functional as F


class Keyword(nn.Module):
    def __init__(self, labels=12):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, (20, 8))
        self.conv2 = nn.Conv2d(16, 16, (10, 4))
        self.fc = nn.LazyLinear(labels)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.relu(self.conv2(x))
        return self.fc(x.flatten(1))


model = Keyword()
frames = torch.randn(1, 1, 30, 40)
model(torch.randn(1, 1, 98, 40))
model.eval()
torch.onnx.export(model, frames, "keyword.onnx", dynamo=True)
