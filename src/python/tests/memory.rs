//! Tests of in-place changes of sizes and views.

use super::*;

#[test]
fn in_place_changes_of_shared_sizes_are_reported() {
    for body in [
        "batch, length = x.shape[:2]\npadded = length\npadded += 2  #! in-place-shape-alias\nreturn padded + length",
        "n = x.shape[1]\nm = n\nn -= 1  #! in-place-shape-alias\nreturn x[:, :n].reshape(-1, m)",
        "h = x.size(2)\nhalf = h\nhalf //= 2  #! in-place-shape-alias\nreturn x[:, :, :half], h",
        "sizes = x.shape\nn = sizes[1]\nn *= 2  #! in-place-shape-alias\nreturn x.new_zeros(sizes[0], n), sizes[1]",
        "b, c, h, w = x.size()\ntop = h\nif k is not None:\n    top += 1  #! in-place-shape-alias\nreturn x.new_zeros(b, c, top, w + h)",
        "n = x.shape[0] + 1\nkept = (n, 3)\nn += 1  #! in-place-shape-alias\nreturn x.reshape(kept), n",
        "a = b = x.shape[1]\na += 1  #! in-place-shape-alias\nreturn torch.zeros(a, b)",
    ] {
        check_forward(body);
    }
    check(&format!(
        "def grow(n):\n    n += 1  #! in-place-shape-alias\n    return n\n\n{}",
        forward("", "x", "n = x.shape[1]\nm = grow(n)\nreturn torch.zeros(n, m)")
    ));
}

#[test]
fn in_place_changes_of_unshared_sizes_are_not_reported() {
    for body in [
        "n = x.shape[1]\nn += 2\nreturn x.new_zeros(n)",
        "n = x.shape[1]\nm = n\nn = n + 2\nreturn x.new_zeros(n, m)",
        "n = x.shape[1]\nm = x.shape[1]\nn += 2\nreturn x.new_zeros(n, m)",
        "n = int(x.shape[1])  #? baked-shape\nm = n\nn += 2\nreturn x.new_zeros(n, m)",
        "count = 0\nother = count\ncount += 1\nreturn x * other * count",
        "n = x.shape[1]\nm = n\nn += 2\nm = 3\nreturn x.new_zeros(n, m)",
        "n = x.dim()\nm = n\nn += 1\nreturn x.sum(m - 1)",
    ] {
        check_forward(body);
    }
}

#[test]
fn writes_through_views_are_reported() {
    for body in [
        "y = x.clone()\ny.view(-1).add_(1)  #! in-place-view-lost\nreturn y",
        "y = x * 2\nv = y.view(-1)\nv += 1  #! in-place-view-lost\nreturn y",
        "y = x.clone()\nt = y.transpose(0, 1)\nt[0] = 1  #! in-place-view-lost\nreturn y",
        "y = x.clone()\nrow = y[0]\nrow.mul_(2)  #! in-place-view-lost\nreturn y",
        "y = x.clone()\nflat = y.flatten()\nflat[0] = 0  #! in-place-view-lost\nreturn y",
        "y = x.relu()\na, b = y.chunk(2, dim=1)\na += b  #! in-place-view-lost\nreturn y",
        "y = x.clone()\ny.unsqueeze(0).zero_()  #! in-place-view-lost\nreturn y",
        "y = x.exp()\nz = y.permute(1, 0)\ny += 1  #! in-place-view-lost\nreturn z",
        "y = x.exp()\nd = y.detach()\nd.clamp_(0, 1)  #! in-place-view-lost\nreturn x * y",
    ] {
        check_forward(body);
    }
    check(&format!(
        "def bump(v):\n    v.add_(1)  #! in-place-view-lost\n\n{}",
        forward("", "x", "y = x.clone()\nbump(y.view(-1))\nreturn y")
    ));
}

#[test]
fn writes_that_the_trace_sees_are_not_reported() {
    for body in [
        "y = x.clone()\ny.add_(1)\nreturn y",
        "y = x.clone()\ny[:, 0] = 1\nreturn y",
        "y = x.clone()\ny[:, 0] += 1\nreturn y",
        "y = x.clone()\ny[0].fill_(1)\nreturn y",
        "y = x.clone()\nv = y.view(-1)\nv += 1\nreturn v",
        "y = x.clone()\nv = y.view(-1)\nv += 1\nreturn v.to(y.device) + torch.ones(y.shape).sum()",
        "y = x.view(-1).clone()\ny += 1\nreturn x + y.sum()",
        "a, b = x.chunk(2)\na += 1\nreturn a + b",
        "x = x.view(-1, 4)\nx += 1\nreturn x",
        "y = x.exp()\nv = y[:, :2]\ny[:, 2:] = v + v\nreturn y",
        "y = x.exp()\nv = y[:, :2]\ny[:, :2] = torch.where(v > 0, v, 0)\nreturn y",
        "y = x.float()\ny += 1\nreturn x + y",
        "res = x\nx = F.relu(x)\nx += res\nreturn x",
    ] {
        check_forward(body);
    }
}

#[test]
fn values_that_partial_writes_leave_are_known() {
    let script = |writes: &str, mark: &str| {
        format!(
            "ids = torch.full((3, 8), 10, dtype=torch.long)\n{writes}\nF.embedding(ids, torch.randn(10, 4)){mark}\n"
        )
    };
    check(&script("ids[:, :6] = torch.arange(6)", " #! index-out-of-range"));
    check(&script("for i in range(3):\n    ids[i, :7] = 1", " #! index-out-of-range"));
    check(&script("ids[:, :6] = 0\nids[:, 6:] = 1", ""));
    check(&script("for i in range(3):\n    ids[i, :8] = 1", ""));
    check(&script("for i in load():\n    ids[i] = 1", ""));
    check(&script("ids = ids[:1, :1].expand(3, 8)\nids.zero_()", ""));
}

#[test]
fn in_place_methods_change_the_shape_under_all_names() {
    let model = forward(
        "super().__init__()\nself.fc = nn.Linear(4, 2)",
        "x",
        "x.transpose_(1, 2)\nreturn self.fc(x)",
    );
    check(&format!("{model}\nx = torch.rand(2, 4, 8)\nnet = Net()\nnet(x)\nx @ torch.rand(4, 8)\n"));
    check(&format!(
        "{model}\nx = torch.rand(2, 4, 8)\nnet = Net()\nnet(x)\nx @ torch.rand(8, 4) #! shape-mismatch\n"
    ));
    check("x = torch.rand(2, 3)\ny = x\nx.t_()\ny @ torch.rand(3, 2) #! shape-mismatch\n");
    check("x = torch.rand(2, 3)\ny = x.clone()\nx.t_()\ny @ torch.rand(3, 2)\n");
}

#[test]
fn index_tensors_are_held_against_the_size_of_the_axis() {
    check("t = torch.rand(5)\nt[torch.tensor([1, 5])] #! index-out-of-range\n");
    check("t = torch.rand(5, 9)\nt[:, torch.tensor([1, -9])]\nt[torch.tensor([True] * 5)]\n");
}
