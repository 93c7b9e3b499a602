import torch
from torch import nn


def make(w):
    return nn.Sequential(nn.Linear(8, w), nn.BatchNorm1d(w), nn.ReLU(), nn.Linear(w, 2))


class Wrap(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def forward(self, x):
        return self.net(x)


a = Wrap(make(16))
torch.save({"state_dict": a.state_dict()}, "w.pt")
ck = torch.load("w.pt", weights_only=True)
b = make(16)
b.load_state_dict({k[len("net."):]: v for k, v in ck["state_dict"].items()})
sd = ck["state_dict"]
for k in list(sd.keys()):
    sd[k.split(".", 1)[1]] = sd.pop(k)


b.load_state_dict(sd)
c = make(4)
sd2 = c.state_dict()
sd2.update({k: v[:4] if v.dim() else v for k, v in b.state_dict().items() if k in ("0.bias",)})
c.load_state_dict(sd2)
d = Wrap(make(16))
d.net.load_state_dict(b.state_dict())
d.load_state_dict(a.state_dict())
e = make(16)
e[3] = nn.Linear(16, 5)
e.load_state_dict({k: v for k, v in b.state_dict().items() if not k.startswith("3")}, strict=False)
state = b.state_dict()
del state["3.weight"], state["3.bias"]
e.load_state_dict(state, strict=False)
state = b.state_dict()
state["3.weight"] = torch.zeros(5, 16); state["3.bias"] = torch.zeros(5)
e.load_state_dict(state)
torch.onnx.export(e.eval(), torch.randn(1, 8), "a.onnx", dynamo=False)
