"""Inputs of other sizes for an exported program with dynamic sizes."""

import random

import torch

ATTEMPTS = 12
LARGEST = 1 << 20


def dynamic_shapes(program) -> list | None:
    """Returns the shapes of the inputs, with sympy expressions for dynamic sizes; None if all sizes are static."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    values = [nodes[name].meta["val"] for name in program.graph_signature.user_inputs]
    shapes = [[dim.node.expr if isinstance(dim, torch.SymInt) else dim for dim in value.shape] for value in values]
    return shapes if any(not isinstance(dim, int) for shape in shapes for dim in shape) else None


def other_sizes(program, shapes, tensors, seed: str):
    """Yields tuples of inputs with other sizes, which the program may still reject."""
    dice = random.Random(seed)
    traced = {}
    for shape, tensor in zip(shapes, tensors):
        traced |= {dim: size for dim, size in zip(shape, tensor.shape) if getattr(dim, "is_symbol", False)}
    symbols = sorted(traced, key=str)
    tried = [tuple(traced[symbol] for symbol in symbols)]
    for attempt in range(ATTEMPTS):
        sizes = []
        for at, symbol in enumerate(symbols):
            size = traced[symbol]
            size += (at + 1, 2, -1)[attempt] if attempt < 3 else dice.randint(-size // 2, 3)
            bounds = program.range_constraints.get(symbol)
            low = max(2, int(bounds.lower)) if bounds is not None else 2
            high = int(bounds.upper) if bounds is not None and bounds.upper < LARGEST else LARGEST
            sizes.append(min(max(size, low), high))
        if tuple(sizes) in tried:
            continue
        tried.append(tuple(sizes))
        chosen = dict(zip(symbols, sizes))
        wanted = [[int(dim if isinstance(dim, int) else dim.subs(chosen)) for dim in shape] for shape in shapes]
        if all(size >= 0 for shape in wanted for size in shape):
            resized = [_resized(tensor, shape, f"{seed} {attempt}") for tensor, shape in zip(tensors, wanted)]
            yield tuple(_order(at, tensors, resized) for at in range(len(tensors)))


def _order(at: int, tensors, resized):
    """Returns a resized tensor; if the given tensor is the order of another one, returns the order of the resized one."""
    order = tensors[at]
    for data, other in zip(tensors, resized):
        is_order = order.dtype == torch.int64 and data.dtype != order.dtype and order.shape == data.shape and order.dim()
        if is_order and order.numel() and 0 <= order.min() and order.max() < order.shape[-1]:
            if torch.equal(data.gather(-1, order), data.sort(-1).values):
                return other.argsort(-1)
    return resized[at]


def _resized(tensor, shape, seed: str):
    """Returns a tensor of this shape with values in the range of the given tensor, or zeros if that tensor is empty.

    Integers are repeated, so that indices stay valid. Triangular tensors stay triangular, and sorted ones sorted. For a
    Hermitian tensor, the result is positive definite, and its values may exceed the range of the given tensor.
    """
    if list(tensor.shape) == shape or tensor.numel() == 0:
        return tensor.clone() if list(tensor.shape) == shape else tensor.new_zeros(shape)
    is_sorted = not tensor.is_complex() and tensor.dim() and torch.equal(tensor, tensor.sort(-1).values)
    if not (tensor.is_floating_point() or tensor.is_complex()):
        for axis, size in enumerate(shape):
            tensor = tensor.index_select(axis, torch.arange(size) % tensor.shape[axis])
        return tensor.sort(-1).values if is_sorted else tensor.contiguous()
    generator = torch.Generator().manual_seed(random.Random(seed).randrange(1 << 30))
    values = tensor.flatten()[torch.isfinite(tensor.flatten())]
    values = values if values.numel() else tensor.flatten()
    count = torch.Size(shape).numel()
    one, other = (values[torch.randint(len(values), (count,), generator=generator)] for _ in range(2))
    share = torch.rand(count, generator=generator).to(one.real.dtype)
    mixed = (one * share + other * (1 - share)).to(tensor.dtype).reshape(shape)
    if tensor.dim() >= 2 and tensor.shape[-1] == tensor.shape[-2] and shape[-1] == shape[-2]:
        if tensor.shape[-1] > 1 and torch.equal(tensor, tensor.mH):
            return (mixed @ mixed.mH + torch.eye(shape[-1], dtype=tensor.dtype)).to(tensor.dtype)
        for triangle in (torch.tril, torch.triu):
            if torch.equal(tensor, triangle(tensor)):
                return triangle(mixed)
    return mixed.sort(-1).values if is_sorted else mixed
