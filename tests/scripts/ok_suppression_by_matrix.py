import torch
from torch import nn


def overlap(box, boxes):
    low = torch.max(box[:2], boxes[:, :2])
    high = torch.min(box[2:], boxes[:, 2:])
    return (high - low).clamp(min=0).prod(1)


def keep(boxes, scores):
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    area = (high - low).clamp(min=0).prod(2)
    better = scores[None] > scores[:, None]
    return (area.masked_fill(~better, 0).amax(1) <= 20).nonzero().squeeze(1)



class Suppress(nn.Module):
    def forward(self, boxes, scores):
        kept = keep(boxes, scores)
        return boxes[kept], scores[kept]


torch.manual_seed(0)
boxes = torch.rand(6, 2) * 20
boxes = torch.cat([boxes, boxes + 10], 1)
torch.onnx.export(
    Suppress().eval(), (boxes, torch.rand(6)), "suppress.onnx", dynamo=False,
    input_names=["boxes", "scores"], dynamic_axes={"boxes": {0: "n"}, "scores": {0: "n"}},
)
