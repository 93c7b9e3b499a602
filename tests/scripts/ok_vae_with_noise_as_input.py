import torch
import torch.nn as nn


class Vae(nn.Module):
    def __init__(self, d=20, z=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 16), nn.ReLU())
        self.mu, self.logvar = nn.Linear(16, z), nn.Linear(16, z)
        self.decoder = nn.Sequential(nn.Linear(z, 16), nn.ReLU(), nn.Linear(16, d), nn.Sigmoid())

    def encode(self, x):
        h = self.encoder(x)
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar, eps=None):
        std = torch.exp(0.5 * logvar)
        if eps is None:
            eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x, eps=None):
        mu, logvar = self.encode(x)
        if not self.training and eps is None:
            z = mu
        else:
            z = self.reparameterize(mu, logvar, eps)
        return self.decoder(z), mu, logvar


def main():
    vae = Vae()
    vae.eval()
    x, eps = torch.rand(2, 20), torch.randn(2, 4)
    outputs = ["reconstruction", "mu", "logvar"]
    torch.onnx.export(vae, (x,), "vae.onnx", input_names=["x"], output_names=outputs, dynamo=False,
                      dynamic_axes={n: {0: "n"} for n in ["x", *outputs]})
    torch.onnx.export(vae, (x, eps), "vae_eps.onnx", input_names=["x", "eps"], output_names=outputs, dynamo=False,
                      dynamic_axes={n: {0: "n"} for n in ["x", "eps", *outputs]})


main()
