import torch, numpy as np, onnxruntime as ort
m = torch.nn.Linear(4, 2).eval()
x = torch.randn(2, 4)
prog = torch.onnx.export(m, (x,), input_names=["x"], dynamo=True)
prog.save("m.onnx", include_initializers=False, keep_initializers_as_inputs=True)
s = ort.InferenceSession("m.onnx")
print([i.name for i in s.get_inputs()])
feed = {k: v.numpy() for k, v in m.state_dict().items()}
np.testing.assert_allclose(s.run(None, {"x": x.numpy(), **feed})[0], m(x).detach().numpy(), atol=1e-4)
