import torch
import torch.nn as nn
from torchvision.ops import nms


class Postprocess(nn.Module):
    def __init__(self, iou=0.5):
        super().__init__()
        self.iou = iou

    def forward(self, boxes, scores):
        xy, wh = boxes[:, :2], boxes[:, 2:]
        corners = torch.cat([xy - wh / 2, xy + wh / 2], dim=1)
        keep = nms(corners, scores, self.iou)
        return corners[keep], scores[keep]


boxes = torch.rand(12, 4) * 4 + 1
scores = torch.rand(12)
torch.onnx.export(Postprocess(), (boxes, scores), "post.onnx", input_names=["boxes", "scores"],
                  output_names=["kept_boxes", "kept_scores"], opset_version=13, dynamo=False,
                  dynamic_axes={"boxes": {0: "n"}, "scores": {0: "n"}, "kept_boxes": {0: "k"}, "kept_scores": {0: "k"}})
