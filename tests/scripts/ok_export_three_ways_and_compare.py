import onnxruntime as ort
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding="same")
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.LazyLinear(5)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x)))
        x = nn.functional.adaptive_max_pool2d(x, (2, 2))
        return self.fc(torch.flatten(x, start_dim=1))


net = Net()
x = torch.rand(2, 3, 8, 8)
with torch.no_grad():
    net(x)  # gives the lazy layer its shape
net = net.eval()

batch = torch.export.Dim("batch", min=1, max=64)
scripted_example = (x,)
torch.onnx.export(net, scripted_example, "a.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
torch.onnx.export(net, scripted_example, "b.onnx", input_names=["x"], output_names=["y"], dynamo=True,
                  dynamic_shapes={"x": {0: batch}}, external_data=False)
program = torch.export.export(net, scripted_example, dynamic_shapes={"x": {0: batch}})
torch.onnx.export(program, f="c.onnx", input_names=["x"], output_names=["y"])

for size in (2, 5):
    sample = torch.rand(size, 3, 8, 8)
    expected = net(sample)
    for path in "abc":
        session = ort.InferenceSession(f"{path}.onnx", providers=["CPUExecutionProvider"])
        (y,) = session.run(["y"], {"x": sample.numpy()})
        torch.testing.assert_close(torch.from_numpy(y), expected, rtol=1e-3, atol=1e-4)
print("all agree")
