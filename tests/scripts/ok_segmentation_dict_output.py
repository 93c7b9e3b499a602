import argparse

import torch
from torch import nn
from torchvision.models.segmentation import lraspp_mobilenet_v3_large


class OnlyOut(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)["out"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--size", nargs=2, type=int, default=[64, 96])
    parser.add_argument("--opset", type=int, default=13)
    args = parser.parse_args()
    net = OnlyOut(lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=args.classes)).eval()
    x = torch.rand(1, 3, *args.size)
    torch.onnx.export(net, x, "lraspp.onnx", opset_version=args.opset, input_names=["x"], output_names=["out"],
                      dynamic_axes={"x": {0: "n"}, "out": {0: "n"}}, dynamo=False)


if __name__ == "__main__":
    main()
