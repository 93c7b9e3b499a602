import onnx
import torch
from torch import nn

models = [nn.Sequential(nn.Linear(12, 4 + fold), nn.Linear(4 + fold, 1)).eval() for fold in range(3)]
dummy = torch.randn(2, 12)
paths, loaded = [], []
for fold, model in enumerate(models):
    path = "fold.onnx"
    torch.onnx.export(model, dummy, path, input_names=["x"], output_names=["p"], dynamo=False)
    paths.append(path)
    loaded.append(onnx.load(paths[-1]))
print(len(loaded))
