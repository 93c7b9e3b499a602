import torch, onnxruntime as ort
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        return self.fc(x)
x = torch.randn(2, 8)
net = Net().eval()
net.register_forward_hook(lambda m, i, o: (o, o.softmax(-1)))
torch.onnx.export(net, (x,), "m.onnx", dynamo=False, input_names=["x"])
y, p = ort.InferenceSession("m.onnx").run(None, {"x": x.numpy()})
