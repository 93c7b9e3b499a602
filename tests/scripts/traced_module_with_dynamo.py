import torch
import torch.nn as nn
from torchvision.models import squeezenet1_1

example = torch.rand(1, 3, 64, 64)
module = torch.jit.trace(squeezenet1_1(weights=None).eval(), example)
module.save("squeezenet.pt")
loaded = torch.jit.load("squeezenet.pt", map_location="cpu")
torch.onnx.export(loaded, (example,), "squeezenet.onnx", opset_version=18, dynamo=True)

import onnx

onnx.checker.check_model("squeezenet.onnx")
print("both written")
