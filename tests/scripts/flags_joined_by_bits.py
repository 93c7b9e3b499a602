import torch
from torch import nn


class Flags(nn.Module):
    def __init__(self, bits=6, width=8):
        super().__init__()
        self.register_buffer("masks", torch.tensor([1 << bit for bit in range(bits)]))
        self.table = nn.Linear(bits, width)

    def forward(self, flags):
        on = (flags.unsqueeze(-1) | self.masks) != 0
        return self.table(on.float())


flags = torch.randint(0, 64, (3, 5))
torch.onnx.export(Flags().eval(), (flags,), "flags.onnx", opset_version=18, input_names=["flags"], dynamo=False)
