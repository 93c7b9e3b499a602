//! Tests of reads and writes through index tensors.

use super::*;

#[test]
fn negative_indices_are_reported() {
    for body in [
        "return x[torch.tensor([[1, 2], [2, -3]]), torch.tensor([-2, 3])]  #! negative-index",
        "rows = torch.tensor([0, -1])\ncols = torch.arange(2)\nreturn x[rows, cols]  #! negative-index",
        "return x[[0, -1], [1, 2]]  #! negative-index",
        "i = torch.tensor([1, 2]) - 3\nreturn x[:, i, torch.tensor([0, 1])]  #! negative-index",
        "i = torch.full((2,), -1)\nreturn x[i, torch.arange(2)]  #! negative-index",
        "i = -torch.tensor([1, 2])\nreturn x[i, torch.LongTensor([0, 1])]  #! negative-index",
        "y = x.clone()\ny[torch.tensor([1, -2]), torch.tensor([-2, 3])] = k  #? negative-index\nreturn y",
        "y = x.clone()\ny[torch.tensor([-1])] = 0  #? negative-index\nreturn y",
    ] {
        check_forward(body);
    }
    check(&forward(
        "self.register_buffer('i', torch.tensor([-1, 0]))\nself.j = torch.tensor([0, 1])",
        "x",
        "return x[self.i, self.j]  #! negative-index",
    ));
    check_forward("return x[:, [0, -1]]  #? negative-index");
    for body in [
        "return x[-1] + x[:, -2] + x[..., -1:]",
        "return x[torch.tensor([0, 1]), torch.tensor([1, 2])]",
        "return x.sum(-1).unsqueeze(-1)",
        "return x[torch.tensor([-2, -1]) + 4, torch.tensor([1, 2])]",
        "w = torch.tensor([-1.0, 2.0])\nreturn x * w",
    ] {
        check_forward(body);
    }
}

#[test]
fn unsupported_writes_through_index_tensors_are_reported() {
    for body in [
        "y = x.clone()\ny[torch.tensor([[1, 2], [2, 3]]), torch.tensor([2, 3])] = k  #! index-put-rank\nreturn y",
        "y = x.clone()\ni = torch.tensor([[0], [1]])\ny[i, torch.tensor([0, 1])] = k.relu()  #! index-put-rank\nreturn y",
        "y = x.clone()\ny[torch.zeros(2, 2, dtype=torch.long)] = k  #? index-put-broadcast\nreturn y",
        "y = x.clone()\nj = torch.arange(4).view(2, 2)\ny[j, j] = k  #! index-put-rank\nreturn y",
        "y = x.clone()\nj = torch.arange(4).reshape((2, 2))\ny.index_put_((j, torch.tensor(1)), k)  #! index-put-rank\nreturn y",
        "y = x.clone()\ny[np.array([0, 1])[:, None], torch.arange(2).unsqueeze(1)] = k  #! index-put-rank\nreturn y",
        "y = x.clone()\ny[torch.tensor([2, 3]), :, torch.tensor([1, 2])] = k  #! index-put-non-consecutive\nreturn y",
        "y = torch.zeros_like(x)\nr, c = torch.arange(2), torch.arange(2)\ny[r, :, c] = 1.0  #! index-put-non-consecutive\nreturn y",
        "y = x.clone()\ny[:, torch.tensor([0]), 1:, torch.tensor([1])] = k  #! index-put-non-consecutive\nreturn y",
        "y = x.clone()\ni = torch.tensor([0])\ny[i, slice(None), i] = k  #! index-put-non-consecutive\nreturn y",
        "y = x.clone()\ny[torch.tensor([2, 3]), ..., torch.tensor([1, 2])] += 1  #! index-put-non-consecutive\nreturn y",
        "y = x.clone()\ny[torch.tensor([[0, 2], [1, 1]]), 1:3] = k  #? index-put-broadcast\nreturn y",
        "y = x.clone()\ny[torch.tensor([0, 2]), 1:3] = torch.ones(3)  #! index-put-broadcast\nreturn y",
        "y = x.clone()\ny[torch.tensor([0, 2]), :, 1:] = torch.arange(4.0)  #! index-put-broadcast\nreturn y",
    ] {
        check_forward(body);
    }
    for body in [
        "y = x.clone()\ny[torch.tensor([0, 2])] = k\nreturn y",
        "y = x.clone()\ny[:, 1:3] = k\nreturn y",
        "y = x.clone()\ny[torch.tensor([0, 1]), torch.tensor([2, 3])] = 1.0\nreturn y",
        "y = x.clone()\ny[x > 0] = 0.0\nreturn y",
        "y = x.clone()\ny[torch.tensor([0, 1]), torch.tensor([2, 3]), :] = k\nreturn y",
        "y = x.clone()\ny[torch.tensor([[0, 1]])] = torch.ones(1, 2, 3)\nreturn y",
        "y = x.clone()\ny[torch.tensor([[0, 1]])] = 0\nreturn y",
        "table = {}\ntable[0, 1] = x\nreturn x",
        "y = x.clone()\ny[:, torch.tensor([0, 1])] = 0\nreturn y",
    ] {
        check_forward(body);
    }
}

#[test]
fn boolean_masks_are_remarks() {
    for body in [
        "return x[x > 0]  #? boolean-mask",
        "keep = x.sum(1) > 0\nreturn x[keep]  #? boolean-mask",
        "return torch.nonzero(x)  #? boolean-mask",
        "return x.masked_select(x > 0)  #? boolean-mask",
        "rows, cols = torch.where(x > 0)  #? boolean-mask\nreturn rows + cols",
    ] {
        check_forward(body);
    }
    for body in [
        "return torch.where(x > 0, x, 0)",
        "return x.masked_fill(x > 0, 0.0)",
        "return x * (x > 0)",
        "x = x.clone()\nx[x < 0] = 0\nreturn x",
    ] {
        check_forward(body);
    }
}
