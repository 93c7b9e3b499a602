import os

import torch
from torch import nn

class Uploader:
    def append(self, path):
        import shutil
        shutil.copy(path, str(len(os.listdir("."))) + ".bin")
up = Uploader()
for dim in (8, 16):
    net = nn.Linear(dim, 4).eval()
    torch.onnx.export(net, (torch.randn(1, dim),), "m.onnx", dynamo=False)
    up.append("m.onnx")
