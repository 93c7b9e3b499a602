import click
import torch
from torch import nn

@click.command()
@click.option("--dim", default=9)
def main(dim):
    net = nn.Linear(8, 4)
    torch.onnx.export(net.eval(), (torch.randn(1, dim),), "a.onnx", dynamo=False)
main(["--dim", "8"], standalone_mode=False)
