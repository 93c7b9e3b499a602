import torch
from torch import nn


class Query(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.ones(1, 2, 4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        q = self.query
        self.query = torch.broadcast_tensors(q[:1], x[:, :1])[0][:1]
        return self.fc(x) + q.mean(1, keepdim=True)


torch.onnx.export(Query().eval(), torch.randn(2, 3, 4), "q.onnx", dynamo=False)
