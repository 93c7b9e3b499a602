# rows by index, counted from the end, too
picked = table[torch.tensor([[0, 3], [1, -2]]), torch.tensor([-1, 2])]
