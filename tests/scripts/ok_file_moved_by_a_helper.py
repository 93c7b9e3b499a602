import os
import subprocess

import torch
from torch import nn

paths = []
OUT = "m.onnx"
def publish():
    os.replace(OUT, f"{len(os.listdir('.'))}.bin")
for dim in (8, 16):
    net = nn.Linear(dim, 4).eval()
    torch.onnx.export(net, (torch.randn(1, dim),), OUT, dynamo=False)
    paths.append(OUT)
    publish()
