import yaml
import torch
from torch import nn
cfg = yaml.safe_load("name: Ünet Model\nwidth: 8\n")
net = nn.Sequential(nn.Linear(cfg["width"], 4))
torch.onnx.export(net.eval(), (torch.randn(2, 8),), "m.onnx", dynamo=False)
