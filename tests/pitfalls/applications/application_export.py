"""Exports and tests these modules like `../families/export.py` does: python application_export.py OUT [CASE…]"""
import os
import sys

import torch
from export import CASES, export_case

elsewhere = set(CASES)
import detection, language, leftovers, soundings  # noqa: E401, E402, F401

if __name__ == "__main__":
    # load the exporters once: the process of each case is forked from this one
    torch.onnx.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),), os.devnull, dynamo=True)
    with open(os.environ.get("PROVED", "proved.tsv"), "w") as proved:
        proved.write("artifact\tright\tdiffers\tmost\tfails\n")
        for name in sys.argv[2:] or [name for name in CASES if name not in elsewhere]:
            print(name, export_case(name, sys.argv[1], proved), flush=True)
