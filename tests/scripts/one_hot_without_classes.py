import torch
import torch.nn as nn
import torch.nn.functional as F


class Policy(nn.Module):
    def __init__(self, actions=4):
        super().__init__()
        self.fc = nn.Linear(actions, 8)

    def forward(self, previous_action):
        return self.fc(F.one_hot(previous_action).float())


policy = Policy().eval()
previous = torch.tensor([0, 3, 1])
torch.onnx.export(policy, previous, "policy.onnx", input_names=["previous_action"], output_names=["h"],
                  dynamic_axes={"previous_action": {0: "n"}, "h": {0: "n"}}, dynamo=False)
