import argparse

import torch
from torch import nn

p = argparse.ArgumentParser(); p.add_argument("--dim", type=int, default=9)
ARGS = p.parse_args([])
def get(): return ARGS
cfg = vars(get())
cfg["dim"] = 8
net = nn.Linear(8, 4)
torch.onnx.export(net.eval(), (torch.randn(1, ARGS.dim),), "a.onnx", dynamo=False)
