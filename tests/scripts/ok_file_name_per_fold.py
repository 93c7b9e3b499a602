from pathlib import Path

import torch
import torch.nn as nn

root = Path("folds")
root.mkdir(exist_ok=True)
x = torch.zeros(4, 13)
for fold, width in enumerate([8, 16, 24]):
    net = nn.Sequential(nn.Linear(13, width), nn.CELU(), nn.Linear(width, 2))
    net.train(False)
    target = (root / f"fold{fold}").with_suffix(".onnx")
    torch.onnx.export(net, (x,), str(target), input_names=["x"], output_names=["y"], dynamo=False,
                      dynamic_axes=dict(x={0: "rows"}, y={0: "rows"}))
assert len(list(root.glob("*.onnx"))) == 3
