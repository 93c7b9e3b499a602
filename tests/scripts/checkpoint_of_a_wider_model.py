import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, x):
        return self.body(x)


PATH = "net.pt"
teacher = Net(hidden=128)
torch.save({"model": teacher.state_dict(), "epoch": 3}, PATH)

student = Net()
checkpoint = torch.load(PATH, map_location="cpu")
student.load_state_dict(checkpoint["model"], strict=False)
student.eval()
torch.onnx.export(student, torch.randn(1, 8), "student.onnx", dynamo=False)
