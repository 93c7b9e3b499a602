import torch
from torch import nn
from torch.nn import TransformerEncoderLayer as Layer
args = {"d_model": 96, "nhead": 8}
more = dict(args, nhead=12, dim_feedforward=int(96 * 1.5))
x = nn.ModuleList([Layer(**args), Layer(**more), nn.TransformerDecoderLayer(64, 4, activation=torch.relu)])
y = nn.Sequential(*x[:2])
z = nn.Sequential(*(nn.Linear(4, 4) for _ in range(2)), nn.Identity())
w = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))
v = nn.ModuleList([])
g = nn.GroupNorm(num_groups=1, num_channels=7)
e = nn.Embedding(1, 4, padding_idx=0)
e2 = nn.Embedding(0, 4)
u = nn.Unflatten(1, (2, 2)); u2 = nn.Unflatten(1, [2, 2])
c = nn.Conv2d(3, 6, 3, groups=3, stride=(1, 1), padding="same")
c2 = nn.ConvTranspose2d(6, 4, 2, 2, groups=2)
d = nn.Dropout(p=0)
r = nn.RNN(4, 4, nonlinearity="relu")
l = nn.LayerNorm(torch.Size([4]))
f = nn.Linear(round(7.0), 8 // 2)
torch.onnx.export(z.eval(), torch.randn(1, 4), "w.onnx", dynamo=False)
