import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(50, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, tokens):
        return self.head(self.embed(tokens))


def keep(model, path):
    torch.save({"epoch": 3, "model": model.state_dict()}, path)


keep(Classifier(), "classifier.pt")
model = Classifier()
model.load_state_dict(torch.load("classifier.pt")["model"])
model.eval()
torch.onnx.export(model, (torch.randint(0, 50, (2, 7)),), "classifier.onnx", input_names=["tokens"], dynamo=False)
