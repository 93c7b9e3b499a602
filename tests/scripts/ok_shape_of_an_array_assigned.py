import numpy as np
import torch
from torch import nn

net = nn.Linear(8, 4)
x = np.zeros((2, 4), "f4"); x.shape = (1, 8); y = net(torch.from_numpy(x))
x = np.zeros((2, 4), "f4"); x.shape = 1, 8; y = net(torch.from_numpy(x))
x = np.zeros((2, 4), "f4"); x.shape = -1; y = net(torch.from_numpy(x))
