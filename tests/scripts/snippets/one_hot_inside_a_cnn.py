import torch
import torch.onnx
import torch.nn as nn


def spread(ids, depth):
    hot = torch.zeros((*ids.shape[:-1], depth), dtype=torch.float32, device=ids.device)
    hot = torch.scatter_(hot, -1, ids.unsqueeze(-1), 1)
    return hot


class SmallNet(nn.Module):
    def __init__(self, depth):
        super(SmallNet, self).__init__()
        self.depth = depth
        self.features = nn.Conv2d(3, 8, kernel_size=3, padding=1)
        self.act = nn.ReLU()
        self.down = nn.MaxPool2d(2, 2)
        self.dense = nn.Linear(8 * 12 * 12, 64)
        self.top = nn.Linear(64, depth)

    def forward(self, img):
        img = self.down(self.act(self.features(img)))
        img = img.view(-1, 8 * 12 * 12)
        img = self.act(self.dense(img))
        img = spread(img, self.depth)
        return self.top(img)


net = SmallNet(3)
img = torch.randn(1, 3, 24, 24)
torch.onnx.export(net, img, "smallnet.onnx", verbose=True, opset_version=13)
