import torch
from torch import nn

net = nn.Linear(8, 4)
net.weight = nn.Parameter(torch.randn(4, 8), False)
net.bias = None
y = net(torch.randn(1, 8)).numpy()
