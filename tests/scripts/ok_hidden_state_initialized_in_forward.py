import torch, copy
from torch import nn


class LSTMState(nn.Module):
    """hidden initial None; reset each forward."""
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8, batch_first=True)
        self.h = torch.zeros(1, 2, 8)
        self.c = torch.zeros(1, 2, 8)
    def init_hidden(self, b):
        self.h = torch.zeros(1, b, 8)
        self.c = torch.zeros(1, b, 8)
    def forward(self, x):
        self.init_hidden(x.size(0))
        y, (self.h, self.c) = self.rnn(x, (self.h, self.c))
        return y


torch.onnx.export(LSTMState().eval(), torch.randn(2, 5, 4), "a.onnx", dynamo=False)
