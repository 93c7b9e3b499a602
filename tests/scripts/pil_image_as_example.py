import numpy as np
import torch
import torchvision.transforms as T
from PIL import Image
from torchvision.models import mobilenet_v3_small

preprocess = T.Compose([T.Resize(64), T.CenterCrop(64)])
photo = Image.fromarray(np.zeros((80, 100, 3), dtype=np.uint8))
example = preprocess(photo)

net = mobilenet_v3_small(weights=None)
net.eval()
with torch.inference_mode():
    torch.onnx.export(net, example, "mobilenet_v3.onnx", input_names=["photo"], output_names=["scores"], dynamo=False)
