import numpy as np
import onnxruntime as ort
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.boxes = nn.Conv2d(8, 4, 1)
        self.scores = nn.Conv2d(8, 1, 1)

    def forward(self, image):
        x = self.stem(image).relu()
        return self.boxes(x).flatten(2), self.scores(x).flatten(1)


torch.onnx.export(
    Detector().eval(), (torch.rand(1, 3, 8, 8),), "detector.onnx", dynamo=False,
    input_names=["image"], output_names=["boxes", "scores"],
)
session = ort.InferenceSession("detector.onnx")
image = np.random.rand(1, 3, 8, 8).astype(np.float32)
boxes, scores, landmarks = session.run(None, {"image": image})
print(boxes.shape, scores.shape, landmarks.shape)
