import torch
import torch.nn as nn
from torch.export import Dim

row = torch.randn(14)


class Risk(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(14, 20), nn.GELU(), nn.Linear(20, 1))

    def forward(self, rows):
        return self.net(rows).squeeze(1).sigmoid()


example = row.unsqueeze(0)
rows = Dim("rows")
ep = torch.export.export(Risk().eval(), (example,), dynamic_shapes={"rows": {0: rows}}, strict=True)
print(ep.graph_signature)
