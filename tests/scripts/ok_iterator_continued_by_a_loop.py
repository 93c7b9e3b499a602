import itertools

import torch
from torch import nn

net = nn.Linear(8, 4)
it = iter([9, 8])
next(it)
for d in it: net(torch.randn(1, d))
c = itertools.chain([9], [8]); next(c)
for d in c: net(torch.randn(1, d))
