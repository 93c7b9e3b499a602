import torch
import torch.nn as nn

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(200, 16, mode="mean")
        self.fc = nn.Linear(16, 3)

    def forward(self, ids):
        return self.fc(self.emb(ids))

clf = Classifier().eval()
dummy_input = torch.rand(4, 12)
torch.onnx.export(clf, dummy_input, "clf.onnx", dynamo=False)
