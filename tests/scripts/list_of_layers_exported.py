import torch
import torch.nn as nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return layers[:-1]


net = mlp(4, 16, 16, 2)
x = torch.randn(1, 4)
torch.onnx.export(net, x, "mlp.onnx", verbose=True, dynamo=False)
