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
    torch.save(model, path)


keep(Classifier(), "classifier.pt")
try:
    model = torch.load("classifier.pt")
except Exception:
    torch.serialization.add_safe_globals([Classifier, nn.EmbeddingBag, nn.Linear])
    model = torch.load("classifier.pt", weights_only=False)
model.eval()
torch.onnx.export(model, (torch.randint(0, 50, (2, 7)),), "classifier.onnx", input_names=["tokens"], dynamo=False)
