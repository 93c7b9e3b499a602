import numpy as np
import torch
from torch import nn

net = nn.Linear(8, 4)
x = np.cumsum(np.zeros((3, 8)), 1, "f4"); y = net(torch.from_numpy(x))
