import torch
import torch.nn as nn

model = nn.Sequential(nn.Flatten(), nn.Linear(12, 4)).eval()
x = torch.randn(2, 3, 4)
kwargs = dict(input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
try:
    # torch < 1.10
    torch.onnx.export(model, x, "flat.onnx", use_external_data_format=False, **kwargs)
except TypeError:
    torch.onnx.export(model, x, "flat.onnx", dynamo=False, **kwargs)
