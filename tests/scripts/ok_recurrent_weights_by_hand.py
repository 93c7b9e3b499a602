import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, 2, bidirectional=True, proj_size=3, batch_first=True)
        self.gru = nn.GRU(6, 5, 2, bidirectional=True)
        self.rnn = nn.RNN(4, 3, bias=False)
        self.up = nn.ConvTranspose2d(6, 4, 3, groups=2)
        self.dw = nn.Conv2d(6, 6, 3, groups=6, bias=False)
        self.ln = nn.LayerNorm([2, 3])
        self.rms = nn.RMSNorm(4)
        self.bi = nn.Bilinear(2, 3, 4)
        self.bn = nn.BatchNorm2d(4, affine=False)
        self.emb = nn.Embedding.from_pretrained(torch.zeros(7, 4))
        self.gn = nn.GroupNorm(2, 4)

    def forward(self, x):
        return self.lstm(x)[0]


z = torch.zeros
state = {
    "lstm.weight_ih_l0": z(24, 4), "lstm.weight_hh_l0": z(24, 3), "lstm.weight_hr_l0": z(3, 6), "lstm.weight_ih_l1_reverse": z(24, 6),
    "gru.weight_ih_l1": z(15, 10), "gru.weight_hh_l1_reverse": z(15, 5), "gru.bias_ih_l0": z(15),
    "rnn.weight_ih_l0": z(3, 4), "up.weight": z(6, 2, 3, 3), "up.bias": z(4), "dw.weight": z(6, 1, 3, 3), "ln.weight": z(2, 3),
    "rms.weight": z(4), "bi.weight": z(4, 2, 3), "bn.running_mean": z(4), "emb.weight": z(7, 4), "gn.bias": z(4),
}
net = Net()
assert set(state) <= set(net.state_dict())
net.load_state_dict(state, strict=False)
net.load_state_dict({**net.state_dict(), **state})
torch.onnx.export(net.gru.eval(), torch.randn(1, 3, 6), "n.onnx", dynamo=False)
