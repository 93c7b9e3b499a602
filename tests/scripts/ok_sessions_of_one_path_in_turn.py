import torch, numpy as np, onnxruntime as ort
m = torch.nn.Linear(4, 2).eval()
x = torch.randn(2, 4)
sessions = []
for op in (14, 17):
    torch.onnx.export(m, (x,), "tmp.onnx", input_names=["x"], opset_version=op, dynamo=False)
    sessions.append(ort.InferenceSession("tmp.onnx"))
for s in sessions:
    np.testing.assert_allclose(s.run(None, {"x": x.numpy()})[0], m(x).detach().numpy(), atol=1e-4)
