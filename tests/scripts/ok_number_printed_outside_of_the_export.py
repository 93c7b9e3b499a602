import torch, numpy as np, onnxruntime as ort
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(4, 4)
    def forward(self, x, step):
        if not torch.onnx.is_in_onnx_export():
            print("step", step.item())
        return self.l(x)
m = M().eval()
x = torch.randn(2, 4)
m(x, torch.tensor(0))
torch.onnx.export(m, (x, torch.tensor(1)), "m.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "b"}, "y": {0: "b"}}, dynamo=False)
s = ort.InferenceSession("m.onnx")
x = torch.randn(5, 4)
np.testing.assert_allclose(s.run(None, {"x": x.numpy()})[0], m(x, torch.tensor(1)).detach().numpy(), atol=1e-4)
