import torch
import torch.nn as nn

CONFIG = {"vocab": 100, "pad": 100, "dim": 8, "length": 6}


class Bag(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.table = nn.Embedding(cfg["vocab"], cfg["dim"])
        self.out = nn.Linear(cfg["dim"], 2)

    def forward(self, ids):
        return self.out(self.table(ids).mean(1))


ids = torch.full((1, CONFIG["length"]), CONFIG["pad"])
torch.onnx.export(Bag(CONFIG).eval(), ids, "bag.onnx", input_names=["ids"], dynamo=False)
