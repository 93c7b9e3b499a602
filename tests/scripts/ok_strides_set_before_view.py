import torch

x = torch.randn(2, 4, 4)
x.as_strided_((2, 4, 4), (16, 1, 4))
y = x.transpose(1, 2).view(2, 16)
