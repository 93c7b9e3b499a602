import torch
import torch.nn as nn
from torch.export import Dim

batch, time = Dim("batch"), Dim("time")
conv = nn.Conv1d(2, 2, 3, padding=1).eval()
torch.onnx.export(conv, torch.randn(2, 2, 8), "conv.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: batch, 2: time}, "y": {0: batch, 2: time}})
