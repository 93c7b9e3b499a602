import torch
import torch.nn as nn

h = torch.export.Dim("h", min=8, max=64)
net = nn.Conv2d(1, 1, 3, stride=2, padding=1).eval()
torch.export.export(net, (torch.rand(1, 1, 16, 16),), dynamic_shapes=({2: 8 * h, 3: None},))
