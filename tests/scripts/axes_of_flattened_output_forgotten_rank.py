import torch
import torch.nn as nn

CFG = dict(in_ch=6, hidden=16, classes=5, length=40)


class WaveClassifier(nn.Module):
    def __init__(self, in_ch, hidden, classes):
        super().__init__()
        self.conv = nn.Conv1d(in_ch, hidden, 5, padding=2)
        self.act = nn.SiLU()
        self.head = nn.Linear(hidden, classes)

    def forward(self, wave):
        h = self.act(self.conv(wave))
        return self.head(h.mean(dim=-1))


net = WaveClassifier(CFG["in_ch"], CFG["hidden"], CFG["classes"])
net.eval()
wave = torch.randn(4, CFG["in_ch"], CFG["length"])
dynamic = {
    "wave": {0: "batch", 2: "time"},
    # the mean removes the time axis
    "scores": {0: "batch", 2: "time"},
}
torch.onnx.export(net, wave, "wave.onnx", input_names=["wave"], output_names=["scores"], dynamic_axes=dynamic,
                  dynamo=False, do_constant_folding=True)
