import os

import torch
import torch.nn as nn


def layer_init(layer, std=2 ** 0.5, bias=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, 1), std=1.0))
        self.actor_mean = nn.Sequential(layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, act_dim), 0.01))
        self.actor_logstd = nn.Parameter(torch.zeros(1, act_dim))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        mean = self.actor_mean(x)
        dist = torch.distributions.Normal(mean, self.actor_logstd.expand_as(mean).exp())
        action = dist.sample() if action is None else action
        return action, dist.log_prob(action).sum(1), dist.entropy().sum(1), self.critic(x)


class Deployed(nn.Module):
    def __init__(self, agent, low, high):
        super().__init__()
        self.net = agent.actor_mean
        self.register_buffer("low", torch.as_tensor(low))
        self.register_buffer("high", torch.as_tensor(high))

    def forward(self, obs):
        return torch.max(torch.min(self.net(obs), self.high), self.low)


agent = Agent(obs_dim=17, act_dim=6)
agent.get_action_and_value(torch.randn(4, 17))
run = os.path.join("runs", "hopper__1")
os.makedirs(run, exist_ok=True)
torch.onnx.export(Deployed(agent, [-1.0] * 6, [1.0] * 6).eval(), torch.zeros(1, 17), os.path.join(run, "actor.onnx"),
                  input_names=["obs"], output_names=["action"], dynamo=False,
                  dynamic_axes={"obs": {0: "batch"}, "action": {0: "batch"}})
torch.onnx.export(agent.critic, torch.zeros(1, 17), os.path.join(run, "critic.onnx"), input_names=["obs"],
                  output_names=["value"], dynamic_axes={"obs": {0: "batch"}, "value": {0: "batch"}}, dynamo=False)
