import argparse

import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="squeezenet1_1")
parser.add_argument("--side", type=int, default=64)
cfg = parser.parse_args()

net = torchvision.models.get_model(cfg.arch, weights=None).eval()
pixels = torch.randint(0, 256, (1, 3, cfg.side, cfg.side), dtype=torch.uint8)
with torch.no_grad():
    torch.onnx.export(net, (pixels,), f"{cfg.arch}.onnx", input_names=["pixels"], output_names=["logits"],
                      dynamo=False)
