import torch

x = torch.randn(2, 4, 4)
x.data = x.data.transpose(1, 2)
y = x.transpose(1, 2).view(2, 16)
