import torch
import torch.nn as nn
import torch.nn.functional as F


class Clip(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), nn.Flatten(2))
        self.to_image = nn.Linear(8, dim)
        self.text = nn.Embedding(100, dim)
        self.logit_scale = nn.Parameter(torch.tensor(1 / 0.07).log())

    def encode_image(self, image):
        return F.normalize(self.to_image(self.image(image).mean(-1)), dim=-1)

    def encode_text(self, text):
        return F.normalize(self.text(text).mean(1), dim=-1)

    def forward(self, image, text):
        i, t = self.encode_image(image), self.encode_text(text)
        logits = self.logit_scale.exp() * i @ t.T
        return logits, logits.T


class Part(nn.Module):
    """Makes a method of the model the forward of a module."""

    def __init__(self, clip, method):
        super().__init__()
        self.clip, self.method = clip, method

    def forward(self, x):
        return getattr(self.clip, self.method)(x)


clip = Clip().eval()
image, text = torch.rand(2, 3, 16, 16), torch.randint(0, 100, (3, 7))
for part, x in {"image": image, "text": text}.items():
    torch.onnx.export(Part(clip, f"encode_{part}"), x, f"clip_{part}.onnx", input_names=[part], output_names=["embedding"],
                      dynamic_axes={part: {0: "n"}, "embedding": {0: "n"}}, dynamo=False)
torch.onnx.export(clip, (image, text), "clip.onnx", input_names=["image", "text"], output_names=["per_image", "per_text"],
                  dynamic_axes={"image": {0: "i"}, "text": {0: "t"}, "per_image": {0: "i", 1: "t"},
                                "per_text": {0: "t", 1: "i"}}, dynamo=False)
