import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Rows(Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return torch.full((4,), float(i))


class Flat(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.fc = torch.nn.Linear(count, 2)

    def forward(self, x):
        return self.fc(x.reshape(self.fc.in_features))


(held,) = next(iter(DataLoader(TensorDataset(torch.rand(3, 4)), batch_size=8)))
torch.onnx.export(Flat(12).eval(), (held,), "held.onnx", dynamo=False)
computed = next(iter(DataLoader(Rows(), batch_size=8)))
torch.onnx.export(Flat(12).eval(), (computed,), "computed.onnx", dynamo=False)
single = next(iter(DataLoader(Rows(), batch_size=None)))
torch.onnx.export(Flat(4).eval(), (single,), "single.onnx", dynamo=False)
