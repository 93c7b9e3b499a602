>>> import torch
>>> layer = torch.nn.Linear(5, 2)
>>> sample = torch.randn(1, 6)
>>> torch.onnx.export(layer, sample, "layer.onnx", dynamo=False)
Traceback (most recent call last):
  ...
RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x6 and 5x2)
