import torch
import torch.nn as nn


def double(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(), nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, in_channels, out_channels, base=8):
        super().__init__()
        self.down1 = double(in_channels, base)
        self.down2 = double(base, 2 * base)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.merge = double(2 * base, base)
        self.out = nn.Conv2d(base, out_channels, 1)

    def forward(self, x):
        skip = self.down1(x)
        low = self.down2(self.pool(skip))
        return self.out(self.merge(torch.cat([self.up(low), skip], dim=1)))
