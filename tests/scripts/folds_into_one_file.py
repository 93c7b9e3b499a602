import torch
import torch.nn as nn

FOLDS = 3


def make():
    return nn.Sequential(nn.Linear(9, 12), nn.ReLU(), nn.Linear(12, 2))


OUT = "fold.onnx"
for fold in range(FOLDS):
    torch.manual_seed(fold)
    net = make().eval()
    x = torch.zeros(2, 9)
    torch.onnx.export(net, x, OUT, input_names=["x"], output_names=["y"], dynamo=False,
                      dynamic_axes={"x": {0: "rows"}, "y": {0: "rows"}})
    print("fold", fold, "->", OUT)
