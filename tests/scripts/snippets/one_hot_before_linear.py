import torch
import torch.onnx


def labels_to_vectors(labels, depth):
    rows = labels.shape[0]
    vectors = torch.zeros((rows, depth), dtype=torch.float32, device=labels.device)
    vectors = torch.scatter_(vectors, 1, labels.unsqueeze(1), 1)
    return vectors


labels = torch.tensor([2, 0, 1, 1], dtype=torch.int64)
depth = 3
print(labels_to_vectors(labels, depth))


class Scorer(torch.nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.head = torch.nn.Linear(12, depth)

    def forward(self, z):
        z = labels_to_vectors(z, depth)
        z = self.head(z)
        return z


scorer = Scorer(3)
sample = torch.randn(1, 12)
torch.onnx.export(scorer, sample, "scorer.onnx", verbose=True)
