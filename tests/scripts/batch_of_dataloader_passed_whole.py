import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return {"features": torch.full((5,), float(i)), "weight": torch.tensor(1.0)}


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 1)

    def forward(self, batch):
        return self.fc(batch["features"]).squeeze(1) * batch["weight"]


batch = next(iter(DataLoader(Rows(), batch_size=4)))
torch.onnx.export(Tabular().eval(), (batch,), "tabular.onnx", dynamo=False)
