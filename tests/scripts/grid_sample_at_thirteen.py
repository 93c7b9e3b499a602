import torch
import torch.nn as nn


class Warp(nn.Module):
    def forward(self, image, flow):
        n, _, h, w = image.shape
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        grid = torch.stack((xs, ys), -1).unsqueeze(0) + flow
        return nn.functional.grid_sample(image, grid, align_corners=True)


torch.onnx.export(Warp(), (torch.rand(1, 2, 8, 8), torch.zeros(1, 8, 8, 2)), "warp.onnx", opset_version=13, dynamo=False)
