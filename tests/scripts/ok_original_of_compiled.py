import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(7, 7)

    def forward(self, x):
        return x + self.fc(x)


fast = torch.compile(Net().eval(), backend="eager")
fast(torch.zeros(1, 7))
net = getattr(fast, "_orig_mod", fast)
torch.onnx.export(net, torch.zeros(2, 7), "net.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
