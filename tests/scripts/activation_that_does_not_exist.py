import torch
import torch.nn as nn
import torch.nn.functional as F

ACTIVATIONS = {"relu": F.relu, "swish": F.silu}


class Block(nn.Module):
    def __init__(self, d, act):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.act = ACTIVATIONS.get(act)

    def forward(self, x):
        y = self.fc(x)
        if self.act is None:
            return F.swish(y)
        return self.act(y)


torch.onnx.export(Block(6, "Swish").eval(), torch.randn(2, 6), "block.onnx", dynamo=False)
