import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 2)).eval()
opts = torch.onnx.ExportOptions(dynamic_shapes=True)
prog = torch.onnx.export(net, (torch.ones(1, 2),), dynamo=True)
