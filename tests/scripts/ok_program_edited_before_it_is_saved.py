import onnx
import torch, onnxruntime as ort
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        y = self.fc(x)
        return y, y.softmax(-1)
x = torch.randn(2, 8)
program = torch.onnx.export(Net().eval(), (x,), dynamo=True, input_names=["x"], output_names=["y", "p"])
program.model.graph.outputs.pop()
program.save("m.onnx")
(y,) = ort.InferenceSession("m.onnx").run(None, {"x": x.numpy()})
