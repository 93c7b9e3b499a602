# the last rows by number
picked = table[torch.tensor([[0, 3], [1, -2]]), torch.tensor([-1, 2])]
