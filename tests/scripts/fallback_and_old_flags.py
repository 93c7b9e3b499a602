import torch

options = dict(opset_version=13, do_constant_folding=True)
options["enable_onnx_checker"] = True
net = torch.nn.Linear(4, 4).eval()
torch.onnx.export(net, torch.rand(1, 4), "lin.onnx", **options)
