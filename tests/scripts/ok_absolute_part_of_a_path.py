import os

import torch
from torch import nn

def pick(a, b): return 8 if a == b else 9
net = nn.Linear(8, 4)
net(torch.randn(1, pick(os.path.join("a", "/b"), "/b")))
