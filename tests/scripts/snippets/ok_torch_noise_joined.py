a, b = torch.randn(3, 2), torch.randn(3, 4)
joined = torch.cat((a, b), dim=1)
