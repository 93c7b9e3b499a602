import torch
from torch import nn


class Enc(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(width, heads, batch_first=True)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
    def forward(self, x):
        b, n, _ = x.shape
        x = torch.cat([self.cls.expand(b, 1, -1), x], 1)
        x = x.view(b, n + 1, -1)
        if n > 512:
            raise ValueError("too long")
        return self.layer(x)[:, 0]


enc = Enc()
state = enc.state_dict()
enc2 = Enc(); enc2.load_state_dict(state)
torch.save(enc.state_dict(), "enc.pt")
big = Enc(16)
missing = {k: v for k, v in torch.load("enc.pt").items() if k in big.state_dict() and v.shape == big.state_dict()[k].shape}
big.load_state_dict({**big.state_dict(), **missing})
big_state = big.state_dict()
for k, v in torch.load("enc.pt").items():
    if big_state[k].shape == v.shape:
        big_state[k] = v


big.load_state_dict(big_state)
torch.onnx.export(enc2.eval(), torch.randn(2, 5, 8), "e.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "b"}, "y": {0: "b"}}, dynamo=False)
