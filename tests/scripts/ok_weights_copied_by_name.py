import torch
from torch import nn

net = nn.Linear(8, 4)
state = {"module.weight": torch.randn(4, 8), "module.bias": torch.randn(4)}
net.load_state_dict(state, strict=False)
with torch.no_grad():
    for name, p in net.named_parameters():
        p.copy_(state["module." + name])
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
