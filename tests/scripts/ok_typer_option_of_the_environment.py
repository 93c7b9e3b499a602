import os

import torch
import typer
from torch import nn

app = typer.Typer()
@app.callback()
def common(dim: int = 9):
    pass
@app.command()
def export(n: int = typer.Option(9, envvar="N")):
    net = nn.Linear(8, 4)
    torch.onnx.export(net.eval(), (torch.randn(1, n),), "a.onnx", dynamo=False)
if __name__ == "__main__":
    os.environ["N"] = "8"
    app(["export"], standalone_mode=False)
