import numpy as np
import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2)).eval()
image = np.random.randint(0, 256, (8, 8, 3), dtype=np.uint8)
image = image.astype(np.float32)
image /= 255.0
image -= np.array([0.485, 0.456, 0.406])
image /= np.array([0.229, 0.224, 0.225])
x = torch.from_numpy(image.transpose(2, 0, 1)).unsqueeze(0)
print(net(x).shape)
torch.onnx.export(net, (x,), "m.onnx", dynamo=False)
