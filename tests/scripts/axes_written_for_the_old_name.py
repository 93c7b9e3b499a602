import torch
import torch.nn as nn

INPUTS = ["images"]
OUTPUTS = ["logits"]
DYNAMIC = {name: {0: "batch"} for name in ("image", "logits")}


def export_model(model, size, path):
    dummy = torch.randn(2, 3, size, size)
    torch.onnx.export(
        model, dummy, path,
        export_params=True,
        input_names=INPUTS,
        output_names=OUTPUTS,
        dynamic_axes=DYNAMIC,
        dynamo=False,
    )


export_model(nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval(), 24, "net.onnx")
