#!/usr/bin/env python3
"""export.py FOLDER [NAME …]: exports small models with both exporters of PyTorch.

Each model has random weights and a static batch of 1, which `check.py` makes dynamic. The exports are NAME.ts.onnx
(`dynamo=False`) and NAME.dyn.onnx (`dynamo=True`). Needs torch, torchvision, transformers and onnxscript. Not run in CI:
the small models are committed in `exported/`.
"""
import os, sys, warnings
import torch, torch.nn as nn, torch.nn.functional as F

from clean import clean

warnings.filterwarnings("ignore")
torch.backends.mha.set_fastpath_enabled(False)
torch.manual_seed(0)
MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


@model
def resnet():
    from torchvision.models.resnet import BasicBlock, ResNet
    net = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=5, width_per_group=64)
    net.conv1 = nn.Conv2d(3, 4, 7, 2, 3)
    net.bn1, net.inplanes = nn.BatchNorm2d(4), 4
    net.layer1, net.layer2 = net._make_layer(BasicBlock, 4, 1), net._make_layer(BasicBlock, 8, 1, 2)
    net.layer3, net.layer4 = net._make_layer(BasicBlock, 8, 1, 2), net._make_layer(BasicBlock, 12, 1, 2)
    net.fc = nn.Linear(12, 5)
    return net, (torch.randn(1, 3, 64, 64),)


@model
def mobilenet():
    from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3
    conf = lambda *a: InvertedResidualConfig(*a, dilation=1, width_mult=0.25)
    rows = [conf(16, 3, 16, 16, True, "RE", 2), conf(16, 3, 32, 24, False, "HS", 2), conf(24, 5, 48, 24, True, "HS", 1)]
    return MobileNetV3(rows, 32, num_classes=5), (torch.randn(1, 3, 32, 32),)


class Yolo(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.SiLU())
        self.down = nn.Conv2d(8, 8, 3, 2, 1)
        self.box, self.cls = nn.Conv2d(8, 16, 1), nn.Conv2d(8, 3, 1)
        self.register_buffer("project", torch.arange(4, dtype=torch.float))

    def forward(self, x):
        a = self.stem(x)
        b = self.down(a)
        a = a + F.interpolate(b, scale_factor=2, mode="nearest")
        rows, anchors, strides = [], [], []
        for stride, f in ((4, a), (8, b)):
            rows.append(torch.cat((self.box(f), self.cls(f)), 1).view(f.shape[0], 19, -1))
            y, c = torch.meshgrid(torch.arange(f.shape[2]) + 0.5, torch.arange(f.shape[3]) + 0.5, indexing="ij")
            anchors.append(torch.stack((c, y), -1).view(-1, 2))
            strides.append(torch.full((f.shape[2] * f.shape[3], 1), float(stride)))
        row = torch.cat(rows, 2)
        anchors, strides = torch.cat(anchors).t().unsqueeze(0), torch.cat(strides).t()
        box, cls = row.split((16, 3), 1)
        n, _, count = box.shape
        dist = box.view(n, 4, 4, count).transpose(2, 1).softmax(1)
        dist = (dist * self.project.view(1, 4, 1, 1)).sum(1)
        lt, rb = dist.chunk(2, 1)
        x1, x2 = anchors - lt, anchors + rb
        return torch.cat((torch.cat(((x1 + x2) / 2, x2 - x1), 1) * strides, cls.sigmoid()), 1)


@model
def yolo():
    return Yolo(), (torch.randn(1, 3, 32, 32),)


class YoloV5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 4, 1)
        self.head = nn.Conv2d(8, 3 * 7, 1)
        self.register_buffer("anchors", torch.rand(1, 3, 1, 1, 2) * 8)

    def forward(self, x):
        f = self.head(F.silu(self.conv(x)))
        bs, _, ny, nx = f.shape
        f = f.view(bs, 3, 7, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
        grid = torch.stack((xv, yv), 2).expand(1, 3, ny, nx, 2) - 0.5
        y = f.sigmoid()
        xy = (y[..., 0:2] * 2 + grid) * 8
        wh = (y[..., 2:4] * 2) ** 2 * self.anchors
        return torch.cat((xy, wh, y[..., 4:]), -1).view(bs, -1, 7)


@model
def yolov5():
    return YoloV5(), (torch.randn(1, 3, 32, 32),)


class Ssd(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, 4, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.loc = nn.ModuleList([nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(8, 8, 3, 1, 1)])
        self.conf = nn.ModuleList([nn.Conv2d(8, 6, 3, 1, 1), nn.Conv2d(8, 6, 3, 1, 1)])
        self.scale = nn.Parameter(torch.rand(8))
        self.register_buffer("priors", torch.rand(160, 4))

    def forward(self, x):
        a = F.relu(self.a(x))
        n = a / (a.pow(2).sum(1, keepdim=True).sqrt() + 1e-6) * self.scale.view(1, -1, 1, 1)
        b = F.relu(self.b(a))
        loc = torch.cat([l(f).permute(0, 2, 3, 1).reshape(f.size(0), -1) for l, f in zip(self.loc, (n, b))], 1)
        conf = torch.cat([l(f).permute(0, 2, 3, 1).reshape(f.size(0), -1) for l, f in zip(self.conf, (n, b))], 1)
        loc, conf = loc.view(loc.size(0), -1, 4), conf.view(conf.size(0), -1, 3)
        boxes = torch.cat((self.priors[:, :2] + loc[..., :2] * 0.1 * self.priors[:, 2:],
                           self.priors[:, 2:] * torch.exp(loc[..., 2:] * 0.2)), 2)
        return boxes, F.softmax(conf, -1)


@model
def ssd():
    return Ssd(), (torch.randn(1, 3, 32, 32),)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU())
        self.a, self.b, self.c = block(1, 4), block(4, 8), block(8, 8)
        self.up, self.d, self.e = nn.ConvTranspose2d(8, 8, 2, 2), block(16, 4), block(8, 4)
        self.out = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        d = self.d(torch.cat((b, self.up(c)), 1))
        d = F.interpolate(d, size=a.shape[2:], mode="bilinear", align_corners=False)
        return self.out(self.e(torch.cat((a, d), 1))).softmax(1)


@model
def unet():
    return UNet(), (torch.randn(1, 1, 16, 16),)


@model
def vit():
    from torchvision.models.vision_transformer import VisionTransformer
    return VisionTransformer(16, 8, 2, 2, 16, 32, num_classes=5), (torch.randn(1, 3, 16, 16),)


@model
def swin():
    from torchvision.models.swin_transformer import SwinTransformer
    return SwinTransformer([2, 2], 8, [2, 2], [2, 2], [2, 2], num_classes=5), (torch.randn(1, 3, 16, 16),)


@model
def swin_v2():
    from torchvision.models.swin_transformer import SwinTransformer, SwinTransformerBlockV2, PatchMergingV2
    net = SwinTransformer([2, 2], 8, [2], [2], [2, 2], num_classes=5, block=SwinTransformerBlockV2,
                          downsample_layer=PatchMergingV2)
    return net, (torch.randn(1, 3, 16, 16),)


class Wrap(nn.Module):
    def __init__(self, net, call):
        super().__init__()
        self.net, self.call = net, call

    def forward(self, *args):
        return self.call(self.net, *args)


@model
def bert():
    from transformers import BertConfig, BertModel
    net = BertModel(BertConfig(vocab_size=30, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                               intermediate_size=32, max_position_embeddings=16))
    call = lambda net, ids, mask: tuple(net(input_ids=ids, attention_mask=mask, return_dict=False))
    return Wrap(net, call), (torch.randint(0, 30, (1, 8)), torch.ones(1, 8, dtype=torch.long))


class Gpt(nn.Module):
    """One step of a decoder with a cache of keys and values, as decoders are usually exported."""

    def __init__(self, layers=2, d=16, h=2):
        super().__init__()
        self.h, self.emb, self.pos = h, nn.Embedding(30, d), nn.Embedding(32, d)
        self.qkv = nn.ModuleList([nn.Linear(d, 3 * d) for _ in range(layers)])
        self.out = nn.ModuleList([nn.Linear(d, d) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, 30)

    def forward(self, ids, past):
        b, s = ids.shape
        p = past.shape[4]
        x = self.emb(ids) + self.pos(torch.arange(p, p + s)).unsqueeze(0)
        mask = torch.full((s, p + s), float("-inf")).triu(p + 1)
        present = []
        for i, (qkv, out) in enumerate(zip(self.qkv, self.out)):
            q, k, v = (t.view(b, s, self.h, -1).transpose(1, 2) for t in qkv(self.ln(x)).split(x.shape[-1], 2))
            k, v = torch.cat((past[i, 0], k), 2), torch.cat((past[i, 1], v), 2)
            present.append(torch.stack((k, v)))
            w = (q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5 + mask).softmax(-1)
            x = x + out((w @ v).transpose(1, 2).reshape(b, s, -1))
        return self.head(self.ln(x)), torch.stack(present)


@model
def gpt():
    return Gpt(), (torch.randint(0, 30, (1, 3)), torch.randn(2, 2, 1, 2, 4, 8)), {"past": 2}


@model
def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    net = GPT2LMHeadModel(GPT2Config(vocab_size=30, n_positions=16, n_embd=16, n_layer=2, n_head=2))
    return Wrap(net, lambda net, ids: net(input_ids=ids, use_cache=False).logits), (torch.randint(0, 30, (1, 8)),)


class Rnn(nn.Module):
    def __init__(self, net, first):
        super().__init__()
        self.net, self.fc, self.first = net(6, 8, num_layers=2, bidirectional=True, batch_first=first), nn.Linear(16, 3), first

    def forward(self, x):
        y, h = self.net(x)
        h = h[0] if isinstance(h, tuple) else h
        return self.fc(y if self.first else y.transpose(0, 1)), torch.cat((h[-2], h[-1]), 1)


@model
def lstm():
    return Rnn(nn.LSTM, True), (torch.randn(1, 7, 6),)


@model
def gru():
    return Rnn(nn.GRU, True), (torch.randn(1, 7, 6),)


class Whisper(nn.Module):
    def __init__(self):
        super().__init__()
        from transformers import WhisperConfig
        from transformers.models.whisper.modeling_whisper import WhisperEncoder
        self.net = WhisperEncoder(WhisperConfig(d_model=16, encoder_layers=2, encoder_attention_heads=2, encoder_ffn_dim=32,
                                                num_mel_bins=8, max_source_positions=16, decoder_layers=1,
                                                decoder_attention_heads=2, vocab_size=30, pad_token_id=0))

    def forward(self, x):
        return self.net(x).last_hidden_state


@model
def whisper():
    return Whisper(), (torch.randn(1, 8, 32),)


@model
def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    return ConvNeXt([CNBlockConfig(8, 16, 1), CNBlockConfig(16, None, 1)], num_classes=5), (torch.randn(1, 3, 32, 32),)


class ShuffleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 1, groups=1), nn.Conv2d(8, 8, 3, padding=1, groups=4)

    def forward(self, x):
        y = self.a(x)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, -1, h, w)
        y = self.b(y)
        return y.mean((2, 3)), y.flatten(1).argmax(1)


@model
def shufflenet():
    return ShuffleNet(), (torch.randn(1, 3, 5, 5),)


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)

    def forward(self, src, tgt):
        return self.net(src, tgt, tgt_mask=nn.Transformer.generate_square_subsequent_mask(tgt.shape[1]))


@model
def transformer():
    return Seq2Seq(), (torch.randn(1, 6, 8), torch.randn(1, 4, 8))


class Detr(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 4, 4)
        self.net = nn.Transformer(8, 2, 1, 1, 16)
        self.query, self.pos = nn.Parameter(torch.rand(5, 8)), nn.Parameter(torch.rand(16, 1, 8))
        self.cls, self.box = nn.Linear(8, 3), nn.Linear(8, 4)

    def forward(self, x):
        f = self.conv(x).flatten(2).permute(2, 0, 1)
        y = self.net(self.pos + 0.1 * f, self.query.unsqueeze(1).repeat(1, f.shape[1], 1)).transpose(0, 1)
        return self.cls(y), self.box(y).sigmoid()


@model
def detr():
    return Detr(), (torch.randn(1, 3, 16, 16),)


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.t, self.b, self.fc = nn.Conv1d(3, 8, 1), nn.Linear(8, 9), nn.Conv1d(3, 8, 1), nn.Linear(8, 4)

    def forward(self, x):
        t = self.t(self.a(x).max(2)[0]).view(-1, 3, 3) + torch.eye(3).view(1, 3, 3).repeat(x.shape[0], 1, 1)
        x = torch.bmm(x.transpose(2, 1), t).transpose(2, 1)
        x = torch.max(self.b(x), 2, keepdim=True)[0].view(-1, 8)
        return F.log_softmax(self.fc(x), 1)


@model
def pointnet():
    return PointNet(), (torch.randn(1, 3, 10),)


class Tacotron(nn.Module):
    """A decoder whose recurrent cell is unrolled, with initial states of zeros."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(6, 8), nn.Linear(8, 6)

    def forward(self, x):
        h, frame, frames = torch.zeros(x.shape[0], 8), torch.zeros(x.shape[0], 6), []
        for t in range(3):
            h = self.cell(x[:, t] + frame, h)
            frame = self.out(h)
            frames.append(frame)
        return torch.stack(frames, 1)


@model
def tacotron():
    return Tacotron(), (torch.randn(1, 3, 6),)


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        net, args, *axes = MODELS[name]()
        net.eval()
        for kind, dynamo in (("ts", False), ("dyn", True)):
            path = os.path.join(folder, f"{name}.{kind}.onnx")
            try:
                import inspect
                names_in = [p for p in inspect.signature(net.forward).parameters if p != "args"][: len(args)]
                names_in = names_in if len(names_in) == len(args) else [f"in{i}" for i in range(len(args))]
                extra = dict(external_data=False) if dynamo else {}
                with torch.no_grad():
                    torch.onnx.export(net, args, path, input_names=names_in, dynamo=dynamo, verbose=False,
                                      opset_version=18 if dynamo else 17, **extra)
                clean(path)
                print(name, kind, os.path.getsize(path))
            except Exception as error:
                print(name, kind, "not exported:", str(error).strip().splitlines()[-1][:150])


main()
