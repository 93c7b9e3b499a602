"""Minimum (floor) of each percentage and factor, for the sample and for the full run: `floors.tsv`."""

import csv
import math
from pathlib import Path

FILE = Path(__file__).with_name("floors.tsv")

# If a percentage exceeds its floor by this many points, a request to raise the floor is printed.
CLEARLY_ABOVE = 0.5


class Floors:
    """The floors of one check. The check also fails if a floor is missing, or has no measurement."""

    def __init__(self, check: str, *, sample: bool):
        with FILE.open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row["check"] == check]
        self._check, self._column = check, "sample" if sample else "whole"
        self._least = {row["what"]: float(row[self._column]) for row in rows}
        self._held = set()

    def share(self, what: str, reached: int, of: int) -> bool:
        """Returns True if the percentage `reached` / `of` reaches its floor.

        Prints a percentage that is below its floor, or clearly above it.
        """
        if not of:
            return self._fails(what, "there were no cases")
        percent = 100 * reached / of
        if not self._holds(what, percent, f"{percent:.1f} %, {reached} of {of}"):
            return False
        possible = math.floor(10 * percent) / 10
        if possible >= self._least[what] + CLEARLY_ABOVE:
            print(f"above its floor: {what}: {percent:.1f} %, the floor is {self._least[what]:g}: raise it to {possible:g}")
        return True

    def factor(self, what: str, times: float) -> bool:
        """Returns True if a factor (a speedup) reaches its floor.

        Timings vary, so a factor may be far above its floor.
        """
        return self._holds(what, times, f"{times:.1f} times")

    def waive(self, beginning: str):
        """Skips the floors with this prefix: they need something that is not installed."""
        self._held |= {what for what in self._least if what.startswith(beginning)}

    def all_held(self) -> bool:
        """Returns True if every floor of the check had a measurement."""
        return all([self._fails(what, "there was no measurement for it") for what in self._least if what not in self._held])

    def _holds(self, what, value, shown) -> bool:
        self._held.add(what)
        if what not in self._least:
            return self._fails(what, f"{shown}, and {FILE.name} has no line for it")
        return value >= self._least[what] or self._fails(what, f"{shown}, the floor is {self._least[what]:g}")

    def _fails(self, what, reason) -> bool:
        print(f"UNDER ITS FLOOR: {self._check}, {what}: {reason}")
        return False
