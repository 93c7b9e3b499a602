Python 3.11 on linux
>>> import torch
>>> model = torch.nn.GRU(3, 5, batch_first=True).eval()
>>> torch.onnx.export(model, torch.randn(2, 4, 3), "gru.onnx", dynamo=False,
...                   input_names=["x"], output_names=["y", "h"],
...                   dynamic_axes={"x": {0: "n", 1: "t"}, "y": {0: "n", 1: "t"}, "h": {1: "n"}})
>>> model(torch.zeros(1, 4, 3))[0].shape
torch.Size([1, 4, 5])
