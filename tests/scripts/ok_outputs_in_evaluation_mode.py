import torch, onnxruntime as ort
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        y = self.fc(x)
        if self.training:
            return y
        return y, y.softmax(-1)
net = Net()
x = torch.randn(2, 8)
torch.onnx.export(net, (x,), "m.onnx", dynamo=False, input_names=["x"])
a, b = ort.InferenceSession("m.onnx").run(None, {"x": x.numpy()})
