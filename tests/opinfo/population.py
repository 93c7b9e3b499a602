"""Samples of PyTorch's operator tests (OpInfo), as modules whose inputs are tensors."""

import itertools
import random

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")
# Operators whose results are uninitialized memory.
UNINITIALIZED = ("empty", "new_empty")
# Special functions and matrix decompositions without the prefix `special_` or `linalg_`.
SPECIAL = ("digamma", "erfinv", "i0", "igamma", "igammac", "lgamma", "mvlgamma", "polygamma")
LINALG = (
    "cholesky", "geqrf", "logdet", "lu", "matrix_exp", "ormqr", "pca_lowrank", "pinverse", "svd", "triangular_solve",
)
# Maximum number of samples of an operator to draw from; some operators have thousands.
MOST = 400


class Case:
    """An operator on one sample: a module and its tensors."""

    def __init__(self, op, name: str, sample):
        self.name = name
        self.leaves, self.tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.places = [at for at, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]
        given = [self.leaves[at].detach() for at in self.places]
        self.is_dense = bool(given) and all(tensor.layout == torch.strided for tensor in given)
        if self.is_dense:
            self.tensors = tuple(tensor.clone(memory_format=torch.contiguous_format) for tensor in given)
        self.op = op.op

    def call(self, tensors):
        """Calls the operator, and returns the tensors among the results of the call."""
        leaves = list(self.leaves)
        for at, tensor in zip(self.places, tensors):
            leaves[at] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        results = self.op(first, *args, **kwargs)
        return [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]

    def module(self) -> torch.nn.Module:
        """Returns a module whose Python file has the name of the case, so that error messages contain it."""
        scope = {}
        code = "def forward(self, *tensors):\n    return self.case[0].call(tensors)\n"
        exec(compile(code, f"/{self.name}.py", "exec"), scope)
        module = type("Module", (torch.nn.Module,), {"forward": scope["forward"]})()
        module.case = (self,)
        return module


def operators(only: str = "") -> dict:
    """Returns the operator tests whose names contain `only`, by name, without those that return uninitialized
    memory."""
    named = {op.full_name.replace(".", "_"): op for op in op_db}
    return {name: op for name, op in sorted(named.items()) if only in name and not name.startswith(UNINITIALIZED)}


def cases(name: str, op, dtype: str, seed: int, per_op: int) -> list[Case]:
    """Returns up to `per_op` samples of an operator with dense tensors, drawn by `seed`."""
    element = getattr(torch, dtype)
    if not op.supports_dtype(element, "cpu"):
        return []
    torch.manual_seed(seed)
    drawn = list(itertools.islice(op.sample_inputs("cpu", element, requires_grad=False), MOST))
    numbers = sorted(random.Random(f"{seed} {name} {dtype}").sample(range(len(drawn)), min(per_op, len(drawn))))
    made = [Case(op, f"{name}.{dtype}.{number}", drawn[number]) for number in numbers]
    return [case for case in made if case.is_dense]


def family(name: str, tensors: list) -> str:
    if any(tensor.is_complex() for tensor in tensors):
        return "complex"
    if name.startswith("special_") or name.startswith(SPECIAL) and name != "i0e":
        return "special"
    if name.startswith("linalg_") or name.startswith(LINALG):
        return "linalg"
    return "core"
