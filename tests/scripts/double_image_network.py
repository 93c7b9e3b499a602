import torch
from torchvision.models import squeezenet1_0

PRECISION = {"single": torch.float32, "double": torch.float64}
dtype = PRECISION["double"]
net = squeezenet1_0(weights=None).to(dtype).eval()
example = torch.rand(1, 3, 64, 64, dtype=dtype)
torch.onnx.export(net, (example,), "squeezenet64.onnx", dynamo=True, dynamic_shapes=({0: "n"},),
                  input_names=["x"], output_names=["y"])

import onnxruntime

onnxruntime.InferenceSession("squeezenet64.onnx", providers=["CPUExecutionProvider"])
print("loaded")
