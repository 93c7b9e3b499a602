import torch


class Ramp(torch.nn.Module):
    def forward(self, x):
        ramp = torch.arange(4).clamp(min=0.5)
        wide = torch.arange(4).clamp_max(torch.tensor([2.5]))
        return torch.matmul(x, ramp) + torch.matmul(x, wide)


torch.onnx.export(Ramp(), (torch.rand(2, 4),), "ramp.onnx", dynamo=False)
