import torch
from torch import nn

items = nn.Embedding(50, 8)
pretrained = nn.Embedding.from_pretrained(torch.randn(50, 8))
x = torch.randn(2, 8)
print((x @ items.weight.detach().t()).numpy(), (x @ items.weight.data.t()).numpy())
print((x @ pretrained.weight.t()).numpy())
