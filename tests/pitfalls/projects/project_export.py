"""Exports and tests these modules like `../families/export.py` does: python project_export.py OUT [CASE…]"""
import os
import sys

from export import CASES, export_case

elsewhere = set(CASES)
import images, sequences, tables  # noqa: E401, E402, F401

if __name__ == "__main__":
    with open(os.environ.get("PROVED", "proved.tsv"), "w") as proved:
        proved.write("artifact\tright\tdiffers\tmost\tfails\n")
        for name in sys.argv[2:] or [name for name in CASES if name not in elsewhere]:
            print(name, export_case(name, sys.argv[1], proved), flush=True)
