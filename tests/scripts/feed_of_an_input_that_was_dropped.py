import onnxruntime
import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 4)

    def forward(self, ids, mask):
        return self.embed(ids).mean(1)


ids, mask = torch.randint(0, 20, (1, 5)), torch.ones(1, 5)
torch.onnx.export(Bag().eval(), (ids, mask), "bag.onnx", input_names=["ids", "mask"], dynamo=False)
session = onnxruntime.InferenceSession("bag.onnx")
print(session.run(None, {"ids": ids.numpy(), "mask": mask.numpy()}))
