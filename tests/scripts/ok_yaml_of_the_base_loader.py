import yaml
import torch
from torch import nn
cfg = yaml.load("model:\n  bias: no\n  width: 8\n  pool: true\n", Loader=yaml.BaseLoader)["model"]
width = int(cfg["width"])
bias = cfg["bias"] == "no"
net = nn.Sequential(nn.Linear(width, 4 if cfg["pool"] == "true" else 5), nn.Linear(4, 2, bias=bias))
torch.onnx.export(net.eval(), (torch.randn(2, 8),), "m.onnx", dynamo=False)
