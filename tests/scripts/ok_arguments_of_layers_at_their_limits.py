from collections import OrderedDict

import torch
from torch import nn

CFG = {"width": 96, "heads": 8, "groups": 4}


class Net(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.embed = nn.Embedding(10, width, padding_idx=-10)
        self.bag = nn.EmbeddingBag(10, width, padding_idx=9)
        self.encoder = nn.TransformerEncoderLayer(width, heads, activation=nn.functional.silu, batch_first=True)
        self.unused = nn.Transformer(10, 3, custom_encoder=nn.Identity(), custom_decoder=nn.Identity())
        self.norm = nn.GroupNorm(groups, width)
        self.plain = nn.InstanceNorm1d(-1)
        self.drop = nn.Dropout(1.0)
        self.same = nn.Conv1d(width, width, 3, stride=1, padding="same", groups=width, padding_mode="circular")
        self.valid = nn.Conv1d(width, int(width / 2), 3, stride=2, padding="valid")
        self.recurrent = nn.GRU(width // 2, 7, dropout=1.0, num_layers=2)
        self.projected = nn.LSTM(width // 2, 8, proj_size=7)
        self.head = nn.Sequential(OrderedDict([("a", nn.Linear(7, 4)), ("act", nn.ReLU()), ("b", nn.Linear(4, 2))]))
        self.skip = nn.ModuleList([nn.Identity(), None])

    def forward(self, ids):
        x = self.drop(self.encoder(self.embed(ids))).transpose(1, 2)
        x = self.valid(self.same(self.norm(x))).permute(2, 0, 1)
        return self.head(self.recurrent(x)[0])


torch.onnx.export(Net(**CFG).eval(), (torch.randint(0, 10, (2, 9)),), "net.onnx", dynamo=False)
