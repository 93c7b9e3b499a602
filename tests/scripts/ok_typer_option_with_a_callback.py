from typing import Annotated

import torch
import typer
from torch import nn

app = typer.Typer()
@app.command()
def main(dim: Annotated[int, typer.Option(callback=lambda v: v - 1)] = 9, n: int = typer.Option(9, callback=lambda v: 8)):
    net = nn.Linear(8, 4)
    torch.onnx.export(net.eval(), (torch.randn(1, n),), "a.onnx", dynamo=False)
    torch.onnx.export(net.eval(), (torch.randn(1, dim),), "b.onnx", dynamo=False)
if __name__ == "__main__":
    app(standalone_mode=False)
