import torch
import torch.nn as nn


class GaussianPolicy(nn.Module):
    def __init__(self, obs=6, act=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 32), nn.ReLU())
        self.mu = nn.Linear(32, act)
        self.log_std = nn.Linear(32, act)

    def forward(self, obs):
        h = self.body(obs)
        mean = self.mu(h)
        std = self.log_std(h).clamp(-5, 2).exp()
        return mean, std


policy = GaussianPolicy().eval()
output_names = ["std", "mean"]
torch.onnx.export(policy, (torch.zeros(2, 6),), "gauss.onnx", input_names=["obs"], output_names=output_names,
                  dynamic_axes={k: {0: "batch"} for k in ["obs"] + output_names}, dynamo=False)
