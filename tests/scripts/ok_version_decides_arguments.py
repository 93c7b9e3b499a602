import torch
import torch.nn as nn

net = nn.Linear(3, 3).eval()
kwargs = {"dynamo": False} if tuple(int(v) for v in torch.__version__.split(".")[:2]) >= (2, 5) else {"example_outputs": None}
torch.onnx.export(net, torch.rand(2, 3), "l.onnx", input_names=["x"], dynamic_axes={"x": {0: "n"}}, **kwargs)
