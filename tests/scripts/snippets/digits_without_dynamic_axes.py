import torch
import torch.nn as nn


class DigitNet(nn.Module):
    def __init__(self):
        super(DigitNet, self).__init__()
        self.first = nn.Conv2d(3, 12, kernel_size=3, padding=1)
        self.second = nn.Conv2d(12, 24, kernel_size=3, padding=1)
        self.act = nn.ReLU()
        self.halve = nn.MaxPool2d(kernel_size=2, stride=2)
        self.head = nn.Linear(24 * 8 * 8, 10)

    def forward(self, pic):
        pic = self.halve(self.act(self.first(pic)))
        pic = self.halve(self.act(self.second(pic)))
        pic = pic.view(-1, 24 * 8 * 8)  # one row a picture
        return self.head(pic)


digits = DigitNet()
pic = torch.randn(1, 3, 32, 32)
torch.onnx.export(digits,
                  pic,
                  "digits.onnx",
                  verbose=True,
                  opset_version=13)
