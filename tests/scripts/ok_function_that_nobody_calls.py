import sys

import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)).eval()


def export_for_torch_one(path):
    # kept for the old build server
    x = torch.randn(1, 3)
    torch.onnx.export(net, x, path, example_outputs=net(x), use_external_data_format=False, enable_onnx_checker=True)


def export(path):
    torch.onnx.export(net, torch.randn(1, 3), path, input_names=["x"], output_names=["y"], dynamo=False,
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})


if __name__ == "__main__":
    if torch.__version__.startswith("1."):
        export_for_torch_one("net.onnx")
    else:
        export(sys.argv[1] if len(sys.argv) > 1 else "net.onnx")
