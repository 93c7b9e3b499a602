import argparse

import torch

from local_unet import TinyUNet


def parse():
    p = argparse.ArgumentParser(description="export of the little U-Net")
    p.add_argument("--base", type=int, default=6)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--output", default="unet.onnx")
    return p.parse_args()


def main(args):
    net = TinyUNet(in_channels=1, out_channels=2, base=args.base).eval()
    x = torch.randn(1, 1, args.size, args.size)
    torch.onnx.export(net, x, args.output, input_names=["scan"], output_names=["mask"], dynamo=False,
                      dynamic_axes={"scan": {0: "batch"}, "mask": {0: "batch"}})


if __name__ == "__main__":
    main(parse())
