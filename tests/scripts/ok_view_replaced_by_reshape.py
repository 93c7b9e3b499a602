import torch

torch.Tensor.view = torch.Tensor.reshape
x = torch.randn(2, 3, 4).transpose(1, 2).view(2, 12)
