import torch
from torch import nn

recurrent = nn.LSTM(6, 32, batch_first=True)
recurrent.register_forward_hook(lambda module, args, pair: pair[0])
model = nn.Sequential(recurrent, nn.Linear(32, 4)).eval()
torch.onnx.export(model, (torch.randn(1, 20, 6),), "gas.onnx", input_names=["x"], dynamo=False)
