import functools
import torch
import torch.nn as nn

def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        result = fn(*args, **kwargs)
        print(fn.__name__, "done")
        return result
    return wrapper

class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 24)
        self.b = nn.Linear(20, 2)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

@timed
def export(path):
    model = Mlp().eval()
    torch.onnx.export(model, torch.randn(1, 12), path, dynamo=False)

export("mlp.onnx")
