import torch
import torch.nn as nn

norm = nn.BatchNorm1d(6)
net = nn.Sequential(nn.Linear(4, 6), norm, nn.ReLU(), nn.Linear(6, 2))
net.eval()
norm.train()
x = torch.randn(8, 4)
traced = torch.jit.trace(net, (x,), check_trace=False)
torch.jit.save(traced, "net.pt")
