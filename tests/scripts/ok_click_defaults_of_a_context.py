import click
import torch
from torch import nn

@click.command(context_settings={"default_map": {"dim": 8}})
@click.option("--dim", default=9)
def main(dim):
    net = nn.Linear(8, 4)
    torch.onnx.export(net.eval(), (torch.randn(1, dim),), "a.onnx", dynamo=False)
if __name__ == "__main__":
    main(standalone_mode=False)
