import torch
from torchvision.models.vision_transformer import VisionTransformer

vit = VisionTransformer(image_size=32, patch_size=16, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=5)
vit.eval()
x = torch.rand(2, 3, 32, 32)
torch.onnx.export(vit, x, "vit.onnx", input_names=["x"], output_names=["y"], opset_version=17, dynamo=False,
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})

import onnxruntime as ort

session = ort.InferenceSession("vit.onnx", providers=["CPUExecutionProvider"])
(logits,) = session.run(None, {"x": torch.rand(3, 3, 32, 32).numpy()})
assert logits.shape == (3, 5)
