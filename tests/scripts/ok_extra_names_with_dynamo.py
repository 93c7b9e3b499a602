import torch
from torch import nn

mlp = nn.Sequential(nn.Linear(16, 16), nn.Softplus(), nn.Linear(16, 2)).eval()
x = torch.randn(4, 16)
program = torch.onnx.export(
    mlp,
    (x,),
    dynamo=True,
    input_names=["x", "w0", "b0"],
    output_names=["y", "unused"],
    dynamic_shapes=[{0: torch.export.Dim.DYNAMIC}],
)
program.save("mlp.onnx")
