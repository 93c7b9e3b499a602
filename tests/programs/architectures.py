"""Architectures of timm, torchvision and transformers, as small models with random weights."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch

# Sizes by name: the traced ones, then two others.
IMAGES = ({"b": 2, "h": 128, "w": 128}, {"b": 1, "h": 160, "w": 192}, {"b": 3, "h": 192, "w": 128})
TEXTS = ({"b": 2, "s": 5, "p": 7}, {"b": 1, "s": 8, "p": 3}, {"b": 3, "s": 4, "p": 12})
SOUNDS = ({"b": 2, "s": 4000}, {"b": 1, "s": 5200}, {"b": 3, "s": 4400})
# Settings of configurations in transformers, by a pattern of their names.
SETTINGS = (
    (r"(num|n|encoder|decoder|hidden)_?(hidden|encoder|decoder)?_?layers?|depth", 2),
    (r"hidden_size|d_model|n_embd|dim|embedding_size|embed_dim|decoder_hidden_size", 32),
    (r".*key_value_heads", 2),
    (r".*attention_heads|n_heads?|num_heads", 4),
    (r"head_dim|d_kv", 8),
    (r".*(intermediate_size|ffn_dim|d_ff|n_inner|inner_dim)", 64),
    (r"vocab_size", 99),
    (r"max_position_embeddings|n_positions|n_ctx", 128),
    (r"(qk|v)_(\w+_)?head_dim", 8),
    (r"(num_|n_routed_)(local_)?experts", 4),
    (r"num_experts_per_tok|moe_top_?k|top_k_experts", 2),
    (r"n_group|topk_group", 1),
    (r"(pad|bos)_token_id", 1),
    (r"eos_token_id", 2),
    (r"rotary_dim", 4),
)
MOST_PARAMETERS = 60_000_000
CANDIDATES = 12


@dataclass
class Program:
    """A model and its inputs: dtype, sizes (names are dynamic), exclusive bound of integers (1: all are 1)."""

    model: torch.nn.Module
    inputs: list
    sizes: tuple = IMAGES

    def tensors(self, sizes: dict, seed: int) -> tuple:
        dice = torch.Generator().manual_seed(seed)
        return tuple(_tensor(dtype, [_size(size, sizes) for size in shape], limit, dice) for dtype, shape, limit in self.inputs)

    def dynamic_shapes(self, dim) -> tuple:
        return tuple({axis: dim for axis, size in enumerate(shape) if isinstance(size, str)} for _, shape, _ in self.inputs)


def _size(size, sizes: dict) -> int:
    """Returns the number for a size, which is a number, a name, or a sum of names."""
    return size if isinstance(size, int) else sum(sizes[name] for name in size.split("+"))


def _tensor(dtype, shape, limit, dice):
    if dtype == torch.float32:
        return torch.randn(shape, generator=dice)
    return torch.randint(limit, shape, generator=dice) if limit > 1 else torch.ones(shape, dtype=dtype)


def families(library: str) -> dict[str, Callable[[], Program]]:
    """Returns a function that builds a program for each architecture family of a library."""
    return {"timm": _timm, "torchvision": _torchvision, "decoders": _decoders, "transformers": _transformers}[library]()


def drawn(libraries: list[str], seed: int, count: int, excluded: set[str]) -> dict[str, Callable[[], Program]]:
    """Returns up to `count` families, drawn by seed from those that are not excluded."""
    named = {f"{library}.{name}": build for library in libraries for name, build in families(library).items()}
    left = sorted(set(named) - excluded)
    return {name: named[name] for name in random.Random(seed).sample(left, min(count, len(left)))}


def _timm():
    import timm

    def build(module):
        names = timm.list_models(module=module)[:CANDIDATES]
        with torch.device("meta"):
            counts = {name: sum(p.numel() for p in timm.create_model(name).parameters()) for name in names}
        name = min(counts, key=counts.get)
        if counts[name] > MOST_PARAMETERS:
            raise ValueError(f"{name} has {counts[name]:,} parameters")
        config = timm.get_pretrained_cfg(name)
        side = config.input_size[-1]
        sizes = tuple({"b": one["b"], "h": side, "w": side} for one in IMAGES) if config.fixed_input_size else IMAGES
        return Program(timm.create_model(name, num_classes=10), [(torch.float32, ("b", 3, "h", "w"), 0)], sizes)

    return {module: lambda module=module: build(module) for module in timm.list_modules()}


def _torchvision():
    import torchvision.models as models

    kinds = {}
    for name in models.list_models(module=models):
        kinds.setdefault(re.match("[a-z]+", name)[0], name)

    def build(name):
        is_fixed = name.startswith(("vit", "maxvit"))
        sizes = tuple({"b": one["b"], "h": 224, "w": 224} for one in IMAGES) if is_fixed else IMAGES
        extra = {"init_weights": False} if name.startswith(("googlenet", "inception")) else {}
        return Program(models.get_model(name, weights=None, **extra), [(torch.float32, ("b", 3, "h", "w"), 0)], sizes)

    return {kind: lambda name=name: build(name) for kind, name in kinds.items()}


def _configuration(kind: str):
    """Returns the configuration of a family with few and narrow layers."""
    from transformers import CONFIG_MAPPING, PretrainedConfig

    def reduce(config):
        for name, value in list(vars(config).items()):
            if isinstance(value, PretrainedConfig):
                reduce(value)
            elif name.endswith("layer_types") and isinstance(value, list):
                setattr(config, name, (list(dict.fromkeys(value)) * 2)[:2])
            elif type(value) is int:
                small = next((small for pattern, small in SETTINGS if re.fullmatch(pattern, name)), value)
                setattr(config, name, small)
        return config

    return reduce(CONFIG_MAPPING[kind]())


def _model(auto, kind: str):
    """Returns a model with few and narrow layers, or with its default size if the library rejects these settings."""
    from transformers import CONFIG_MAPPING

    try:
        return auto.from_config(_configuration(kind)).eval()
    except Exception:  # noqa: BLE001 – models raise many kinds
        config = CONFIG_MAPPING[kind]()
        with torch.device("meta"):
            count = sum(parameter.numel() for parameter in auto.from_config(config).parameters())
        if count > MOST_PARAMETERS:
            raise
        return auto.from_config(config).eval()


class _Decoder(torch.nn.Module):
    """A decoder with its cache as inputs and outputs."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, *past):
        from transformers import DynamicCache

        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        return [out.logits, *(tensor for layer in out.past_key_values.layers for tensor in (layer.keys, layer.values))]


def _decoders():
    from transformers import AutoModelForCausalLM
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as names

    def build(kind):
        model = _model(AutoModelForCausalLM, kind)
        ids = torch.ones(2, 5, dtype=torch.int64)
        with torch.no_grad():
            layers = model(input_ids=ids, attention_mask=ids, use_cache=True).past_key_values.layers
        past = [tensor for layer in layers for tensor in (layer.keys, layer.values)]
        sizes = [("b", *("p" if size == 5 else size for size in tensor.shape[1:])) for tensor in past]
        cache = [(torch.float32, size, 0) for size in sizes]
        inputs = [(torch.int64, ("b", "s"), 90), (torch.int64, ("b", "p+s"), 1), *cache]
        return Program(_Decoder(model), inputs, TEXTS)

    return {kind: lambda kind=kind: build(kind) for kind in names}


class _Tensors(torch.nn.Module):
    """A wrapper of a model that returns the list of the tensors in the result."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        results = self.model(**dict(zip(self.names, inputs)))
        return [tensor for tensor in results.values() if isinstance(tensor, torch.Tensor)]


def _transformers():
    from transformers import AutoModel
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES as names

    def build(kind):
        model = _model(AutoModel, kind)
        config = model.config
        ids, mask = (torch.int64, ("b", "s"), 90), (torch.int64, ("b", "s"), 1)
        if model.main_input_name == "pixel_values":
            side = getattr(config, "image_size", None)
            side = side if isinstance(side, int) else None
            sizes = tuple({"b": one["b"], "h": side, "w": side} for one in IMAGES) if side else IMAGES
            return Program(_Tensors(model, ["pixel_values"]), [(torch.float32, ("b", 3, "h", "w"), 0)], sizes)
        if model.main_input_name == "input_values":
            return Program(_Tensors(model, ["input_values"]), [(torch.float32, ("b", "s"), 0)], SOUNDS)
        if model.main_input_name != "input_ids":
            raise ValueError(f"{model.main_input_name} is not supported")
        if config.is_encoder_decoder:
            inputs = [ids, mask, (torch.int64, ("b", "p"), 90)]
            return Program(_Tensors(model, ["input_ids", "attention_mask", "decoder_input_ids"]), inputs, TEXTS)
        return Program(_Tensors(model, ["input_ids", "attention_mask"]), [ids, mask], TEXTS)

    return {kind: lambda kind=kind: build(kind) for kind in names}
