import torch, numpy as np, onnxruntime as ort
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calibrating = False
        self.scale = torch.tensor(1.0)
        self.l = torch.nn.Linear(4, 4)
    def forward(self, x):
        if self.calibrating:
            self.scale = x.detach().abs().amax()
        return self.l(x / self.scale)
m = Scale().eval()
m.calibrating = True
m(torch.randn(64, 4))
m.calibrating = False
x = torch.randn(2, 4)
torch.onnx.export(m, (x,), "m.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "b"}, "y": {0: "b"}}, dynamo=False)
s = ort.InferenceSession("m.onnx")
x = torch.randn(5, 4)
np.testing.assert_allclose(s.run(None, {"x": x.numpy()})[0], m(x).detach().numpy(), atol=1e-4)
