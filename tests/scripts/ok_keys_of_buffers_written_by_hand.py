import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.rnn = nn.LSTM(4, 3, 2, bidirectional=True, proj_size=2)
        self.att = nn.MultiheadAttention(4, 2, kdim=3, add_bias_kv=True)
        self.norm = nn.InstanceNorm1d(4, affine=True, track_running_stats=True)
        self.act = nn.PReLU(4)
        self.scale = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(2))])
        self.bag = nn.ParameterDict({"k": nn.Parameter(torch.ones(3))})
        self.register_buffer("pe", torch.zeros(3))
        self.register_parameter("gain", None)
        self.add_module("extra", nn.Linear(2, 2, bias=False))
        for i in range(2):
            setattr(self, f"fc{i}", nn.Linear(4, 4))
            self.register_buffer(f"b{i}", torch.zeros(1))

    def forward(self, x):
        return self.fc1(self.fc0(self.bn(x)))


net = Net()
state = {
    "bn.num_batches_tracked": torch.tensor(0), "bn.running_mean": torch.zeros(4),
    "rnn.weight_hr_l1_reverse": torch.zeros(2, 3), "rnn.bias_hh_l1_reverse": torch.zeros(12), "rnn.weight_ih_l1": torch.zeros(12, 4),
    "att.q_proj_weight": torch.zeros(4, 4), "att.bias_k": torch.zeros(1, 1, 4), "att.in_proj_bias": torch.zeros(12), "att.out_proj.weight": torch.zeros(4, 4),
    "norm.num_batches_tracked": torch.tensor(0), "norm.running_var": torch.ones(4),
    "act.weight": torch.zeros(4), "scale.1": torch.zeros(2), "bag.k": torch.zeros(3), "pe": torch.zeros(3), "extra.weight": torch.zeros(2, 2),
    "fc0.weight": torch.zeros(4, 4), "fc1.bias": torch.zeros(4), "b1": torch.zeros(1),
}
full = net.state_dict()
assert set(state) <= set(full), set(state) - set(full)
full.update(state)
net.load_state_dict(full)
net.load_state_dict({**full, **state})
for key in full:
    if key not in state:
        state[key] = full[key]
net.load_state_dict(state)
torch.onnx.export(net.eval(), torch.randn(2, 4), "n.onnx", dynamo=False)
