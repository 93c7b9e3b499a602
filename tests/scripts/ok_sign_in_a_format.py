import torch
from torch import nn

DIMS = {"  +5": 8}
def pick(k):
    return 8 if k in DIMS else 9
nn.Linear(8, 4)(torch.randn(1, pick("%+4d" % 5)))
