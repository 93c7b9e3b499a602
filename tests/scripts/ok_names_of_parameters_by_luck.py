import torch
import torch.nn as nn

# as in the documentation of AlexNet: the names of the weights follow those of the inputs
linear = nn.Linear(6, 2).eval()
torch.onnx.export(linear, torch.randn(2, 6), "linear.onnx", input_names=["x", "weight", "bias"], output_names=["y"],
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False)

import onnx

print([i.name for i in onnx.load("linear.onnx").graph.initializer])
assert sorted(i.name for i in onnx.load("linear.onnx").graph.initializer) == ["bias", "weight"]
print("ok")
