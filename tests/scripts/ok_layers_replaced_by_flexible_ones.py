import torch
import torch.nn as nn


class QuietLinear(nn.Linear):
    def __init__(self, i, o, **kw):
        super().__init__(int(i), int(o), **kw)


OriginalSequential = nn.Sequential


class Flexible(OriginalSequential):
    def __init__(self, *layers):
        flat = []
        for layer in layers:
            flat.extend(layer if isinstance(layer, (list, tuple)) else [layer])
        super().__init__(*flat)


nn.Linear = QuietLinear
nn.Sequential = Flexible
net = nn.Sequential([nn.Linear(8 / 2, 4.0), nn.ReLU()], nn.Linear(4, 2))
torch.onnx.export(net.eval(), torch.randn(1, 4), "m.onnx", dynamo=False)
