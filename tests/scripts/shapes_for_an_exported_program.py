import torch
from torch import nn
from torch.export import Dim

net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU()).eval()
signal = torch.rand(3, 2, 50)
program = torch.export.export(net, (signal,))
torch.onnx.export(program, f="signal.onnx", dynamic_shapes={"input": {0: Dim("batch")}})
