# two index tensors, one of rank two
table[torch.tensor([[0, 1], [1, 3]]), torch.tensor([1, 2])] = rows

# index tensors with a slice between them
table[torch.tensor([0, 3]), :, torch.tensor([2, 1])] = rows

# numbers from the end
table[torch.tensor([0, -1]), torch.tensor([-3, 2])] = rows

# `rows` has fewer axes than the place it is written to
table[torch.tensor([[1, 2], [0, 0]]), 0:2] = rows
