import torch, numpy as np, onnxruntime as ort
from torch.export import Dim
class M(torch.nn.Module):
    def forward(self, x, k):
        return x * k
m = M().eval()
x = torch.randn(4, 3)
ep = torch.export.export(m, (x, 3), dynamic_shapes=({0: Dim.DYNAMIC}, Dim.DYNAMIC))
prog = torch.onnx.export(ep, (), "m.onnx", input_names=["x", "k"])
s = ort.InferenceSession("m.onnx")
print([i.name for i in s.get_inputs()])
np.testing.assert_allclose(s.run(None, {"x": x.numpy(), "k": np.array(5)})[0], m(x, 5).numpy(), atol=1e-4)
