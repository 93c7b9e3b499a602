>>> import torch
>>> from torch import nn
>>> net = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval()
>>> x = torch.randn(2, 4)
>>> net(x).shape
torch.Size([2, 4])
>>> torch.onnx.export(
...     net, x, "net.onnx", dynamo=False,
...     input_names=["obs"], output_names=["act"],
...     dynamic_axes={"observation": {0: "n"}, "act": {0: "n"}},
... )
