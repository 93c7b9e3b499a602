"""Commands to judge, and their tolerances."""

from dataclasses import dataclass

# Sizes of dynamic axes at which a model is run.
SIZES = (1, 2, 3, 4)


@dataclass(frozen=True)
class Command:
    """A call of onnx-fix: its arguments, and the tolerance for outputs."""

    name: str
    arguments: tuple[str, ...] = ()
    # Relative tolerance, and absolute tolerance as a share of the largest expected element, or of 1 if that is larger.
    rtol: float = 2e-3
    share: float = 2e-4

    @property
    def may_refuse(self) -> bool:
        """Whether the command may refuse a valid model: true for all commands but plain `fix`."""
        return bool(self.arguments)


FIXES = (
    Command("fix"),
    *(Command(f"opset{opset}", ("--opset", str(opset))) for opset in (11, 13, 17, 21)),
    Command("ort", ("--target", "ort")),
    Command("float16", ("--to", "float16", "--keep-io"), rtol=2e-2, share=2e-2),
)

# Columns of the table. `lint` and `dynamic` have their own judge functions.
COLUMNS = ("lint", *(command.name for command in FIXES), "dynamic")
