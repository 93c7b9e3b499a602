"""Exports small published models with random weights, and compares ONNX Runtime to PyTorch.

Usage: python zoo.py OUT_DIR ts|dynamo|pt2 [NAME…]. Needs torch, transformers, timm, torchvision and onnxruntime.
OUT_DIR/NAME.KIND.onnx (or .pt2) and OUT_DIR/NAME.KIND.log are the export and the output of the exporter. Each row of
OUT_DIR/proved.tsv is about one ONNX file, run on inputs of five sizes: its name, the number of equal outputs, the
number of different outputs, the largest difference, the number of failures of ONNX Runtime, the number of failures of
PyTorch, the last error of ONNX Runtime, and the batch and length of the inputs with different outputs. At 1 x 1, the
mask hides all keys: PyTorch's attention returns zeros, but its export does not (NUM006). At level warning,
`onnx-lint OUT_DIR/NAME.KIND.onnx --export-log OUT_DIR/NAME.KIND.log` should report exactly the faulty exports.
"""
import inspect
import os
import sys
import time
import traceback

import numpy as np
import onnxruntime
import timm
import torch
import torch._dynamo
import torch.onnx
import torchvision.models
import transformers

torch.set_num_threads(1)

SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=99)
GROUPED = dict(SMALL, num_key_value_heads=2, head_dim=8)
TWO_SIDES = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                 encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=99)
SEEN = dict(SMALL, image_size=32, patch_size=8)
HEARD = dict(SMALL, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3), num_feat_extract_layers=2,
             num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2)
# class: settings of a small configuration, and the kind of inputs
TRANSFORMERS = {
    "Bert": (SMALL, "text"), "Roberta": (SMALL, "text"), "XLMRoberta": (SMALL, "text"), "Camembert": (SMALL, "text"),
    "DistilBert": (dict(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=99), "text"),
    "Albert": (dict(SMALL, embedding_size=16), "text"), "Electra": (dict(SMALL, embedding_size=16), "text"),
    "Deberta": (dict(SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"]), "text"),
    "DebertaV2": (dict(SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=16), "text"),
    "MPNet": (SMALL, "text"), "ModernBert": (dict(SMALL, pad_token_id=0), "text"), "LayoutLM": (SMALL, "text"),
    "GPT2": (dict(n_embd=32, n_layer=2, n_head=4, vocab_size=99), "text"),
    "GPTNeo": (dict(hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], vocab_size=99), "text"),
    "GPTNeoX": (SMALL, "text"), "GPTJ": (dict(n_embd=32, n_layer=2, n_head=4, rotary_dim=4, vocab_size=99), "text"),
    "OPT": (dict(SMALL, ffn_dim=64, word_embed_proj_dim=32), "text"), "Bloom": (dict(hidden_size=32, n_layer=2, n_head=4, vocab_size=99), "text"),
    "Llama": (GROUPED, "text"), "Mistral": (GROUPED, "text"), "Qwen2": (GROUPED, "text"), "Qwen3": (GROUPED, "text"),
    "Gemma": (GROUPED, "text"), "Gemma2": (GROUPED, "text"), "Phi": (SMALL, "text"), "Phi3": (dict(GROUPED, pad_token_id=0), "text"),
    "Falcon": (SMALL, "text"), "Mixtral": (dict(GROUPED, num_local_experts=4), "text"), "StableLm": (dict(SMALL, num_key_value_heads=4), "text"),
    "T5": (dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=99), "both"),
    "Bart": (TWO_SIDES, "both"), "MBart": (TWO_SIDES, "both"), "Pegasus": (TWO_SIDES, "both"),
    "Marian": (dict(TWO_SIDES, pad_token_id=98), "both"), "M2M100": (TWO_SIDES, "both"),
    "Whisper": (dict(TWO_SIDES, num_mel_bins=16, max_source_positions=20, pad_token_id=0), "speech"),
    "ViT": (SEEN, "image"), "DeiT": (SEEN, "image"), "Beit": (SEEN, "image"), "Dinov2": (SEEN, "image"),
    "Swin": (dict(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4), "image"),
    "ConvNext": (dict(hidden_sizes=[8, 16, 32, 32], depths=[1, 1, 1, 1]), "image"),
    "ResNet": (dict(embedding_size=8, hidden_sizes=[8, 16, 32, 32], depths=[1, 1, 1, 1]), "image"),
    "Segformer": (dict(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16), "image"),
    "MobileViT": (dict(hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], num_attention_heads=2, image_size=64), "image"),
    "Yolos": (dict(SEEN, image_size=[32, 32], num_detection_tokens=4), "image"),
    "CLIPVision": (SEEN, "image"), "SiglipVision": (SEEN, "image"), "CLIPText": (dict(SMALL, eos_token_id=98), "text"),
    "Wav2Vec2": (HEARD, "sound"), "Hubert": (HEARD, "sound"), "WavLM": (HEARD, "sound"),
}
TIMM = ("resnet18 resnet50 resnext50_32x4d seresnet50 efficientnet_b0 tf_efficientnetv2_b0 mobilenetv2_050 mobilenetv3_small_050 "
        "mobilenetv4_conv_small convnext_atto convnextv2_atto vit_tiny_patch16_224 deit_tiny_patch16_224 beit_base_patch16_224 "
        "swin_tiny_patch4_window7_224 swinv2_tiny_window8_256 densenet121 regnety_002 ghostnet_050 hrnet_w18_small dla34 "
        "mixer_s32_224 poolformer_s12 levit_128s coat_lite_tiny mobilevit_xxs edgenext_xx_small efficientformer_l1 maxvit_tiny_rw_224 "
        "eva02_tiny_patch14_224 cait_xxs24_224 xcit_nano_12_p16_224 repvgg_a0 nfnet_l0 fastvit_t8 inception_v3").split()
TORCHVISION = ("alexnet vgg11 vgg11_bn resnet18 resnet50 resnext50_32x4d wide_resnet50_2 squeezenet1_0 squeezenet1_1 densenet121 "
               "googlenet inception_v3 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large mnasnet0_5 shufflenet_v2_x0_5 regnet_x_400mf "
               "regnet_y_400mf efficientnet_b0 efficientnet_v2_s convnext_tiny swin_t swin_v2_t vit_b_16 maxvit_t fcn_resnet50 "
               "deeplabv3_mobilenet_v3_large lraspp_mobilenet_v3_large raft_small fasterrcnn_mobilenet_v3_large_320_fpn "
               "ssdlite320_mobilenet_v3_large retinanet_resnet50_fpn maskrcnn_resnet50_fpn r3d_18").split()


class Plain(torch.nn.Module):
    """A wrapper as users write it: takes tensors in the order of `names`, and returns the tensors of the output."""

    def __init__(self, model, names, **always):
        super().__init__()
        self.model, self.names, self.always = model, names, always

    def forward(self, *inputs):
        out = self.model(**dict(zip(self.names, inputs)), **self.always)
        out = out.to_tuple() if hasattr(out, "to_tuple") else out
        return tuple(one for one in out if isinstance(one, torch.Tensor))


def ids(batch, length):
    return torch.randint(3, 98, (batch, length))


def mask(batch, length):
    """Returns a mask: all ones for the traced batch of 2, else with a zero at the end of the first sequence."""
    kept = torch.ones(batch, length, dtype=torch.int64)
    kept[0, length - (batch != 2):] = 0
    return kept


def transformer(name):
    """Returns a model, a function that makes its inputs for a batch size and a length, and their dynamic axes."""
    smaller, takes = TRANSFORMERS[name]
    config = getattr(transformers, f"{name}Config")(**smaller)
    model = getattr(transformers, f"{name}Model")(config).eval()
    rows, steps = {0: "batch", 1: "length"}, {0: "batch", 2: "length"}
    if takes == "text":
        return Plain(model, ["input_ids", "attention_mask"], **uncached(model)), lambda b, n: (ids(b, n), mask(b, n)), [rows, rows]
    if takes == "both":
        names = ["input_ids", "attention_mask", "decoder_input_ids"]
        return Plain(model, names, use_cache=False), lambda b, n: (ids(b, n), mask(b, n), ids(b, n + 2)), [rows, rows, {0: "batch", 1: "target"}]
    if takes == "speech":
        return Plain(model, ["input_features", "decoder_input_ids"], use_cache=False), lambda b, n: (torch.randn(b, 16, 40), ids(b, n)), [{0: "batch"}, rows]
    if takes == "sound":
        return Plain(model, ["input_values"]), lambda b, n: (torch.randn(b, 100 * n),), [rows]
    size = getattr(config, "image_size", 64)
    size = size if isinstance(size, int) else size[0]
    return Plain(model, ["pixel_values"]), lambda b, n: (torch.randn(b, 3, min(size, 64), min(size, 64)),), [{0: "batch"}]


def uncached(model):
    return {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters or hasattr(model.config, "use_cache") else {}


def pictures(name):
    kind, name = name.split("_", 1)
    if kind == "timm":
        fixed = any(part in name for part in ("224", "256", "levit", "coat", "efficientformer"))
        size = 256 if "256" in name else 224 if fixed else 96
        model = timm.create_model(name, pretrained=False)
    else:
        zoo, detection = torchvision.models, torchvision.models.detection
        detects = any(part in name for part in ("rcnn", "ssd", "retina"))
        where = detection if detects else zoo.segmentation if any(p in name for p in ("fcn", "deeplab", "lraspp")) else zoo.video if "r3d" in name else zoo.optical_flow if "raft" in name else zoo
        model = getattr(where, name)(weights=None, **({"weights_backbone": None} if detects or where is zoo.segmentation else {}))
        if detects:
            return model, lambda b, n: ([torch.rand(3, 64 + n, 96)],), None
        if "raft" in name:
            return model, lambda b, n: (torch.randn(b, 3, 128, 128), torch.randn(b, 3, 128, 128)), [{0: "batch"}, {0: "batch"}]
        if "r3d" in name:
            return model, lambda b, n: (torch.randn(b, 3, 8, 32, 32),), [{0: "batch"}]
        size = 224 if name in ("vit_b_16", "maxvit_t", "alexnet") else 96
        size = 299 if name == "inception_v3" else size
        if where is zoo.segmentation:
            return model, lambda b, n: (torch.randn(b, 3, 64, 8 * n),), [{0: "batch", 3: "width"}]
    return model, lambda b, n: (torch.randn(b, 3, size, size),), [{0: "batch"}]


def made(name):
    torch.manual_seed(0)
    model, build, axes = transformer(name[3:]) if name.startswith("hf_") else pictures(name)
    return model.eval(), build, axes


def export(model, inputs, axes, kind, path):
    names = [f"in{i}" for i in range(len(inputs))] if axes else ["images"]
    if kind == "ts":
        free = dict(zip(names, axes)) if axes else {"images": {1: "height", 2: "width"}}
        torch.onnx.export(model, inputs, path, dynamo=False, opset_version=17, input_names=names, dynamic_axes=free)
        return
    free = tuple({axis: torch.export.Dim.AUTO for axis in one} for one in axes) if axes else None
    if isinstance(model, Plain) and free:
        free = (free,)
    if kind == "pt2":
        torch.export.save(torch.export.export(model, inputs, dynamic_shapes=free), path)
    else:
        torch.onnx.export(model, inputs, path, dynamo=True, dynamic_shapes=free, input_names=names)


def attempt(path, run):
    """Runs `run` in a child process; writes the output to the log file beside `path`."""
    child = os.fork()
    if child == 0:
        log = os.open(os.path.splitext(path)[0] + ".log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = 0
        try:
            with torch.no_grad():
                run()
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for part in (value.values() if isinstance(value, dict) else value) for one in flat(part)]


def distance(expected, found):
    """Returns the max difference relative to the largest element: random weights make large numbers."""
    if expected.shape != found.shape:
        return float("inf")
    return float(np.abs(expected - found).max(initial=0)) / max(1.0, float(np.abs(expected).max(initial=0)))


def prove(model, build, path, out):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    right = differs = fails = alone = 0
    most, why, where = 0.0, "", []
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for batch, length in ((2, 8), (3, 8), (1, 12), (4, 5), (1, 1)):
        torch.manual_seed(batch)
        inputs = build(batch, length)
        try:
            expected = flat(model(*inputs))
        except Exception:
            alone += 1
            continue
        try:
            given = {slot.name: value.numpy() for slot, value in zip(session.get_inputs(), flat(inputs))}
            found = session.run(None, given)
            gap = max(distance(a.numpy().astype(float), b) for a, b in zip(expected, found))
            most = max(most, gap)
            right, differs = (right + 1, differs) if gap < 2e-3 else (right, differs + 1)
            where += [f"{batch} x {length}"] if gap >= 2e-3 else []
        except Exception as error:
            fails += 1
            why = str(error).replace("\n", " ").replace("\t", " ")[-150:]
    with open(f"{out}/proved.tsv", "a") as table:
        table.write(f"{os.path.basename(path)}\t{right}\t{differs}\t{most:.3g}\t{fails}\t{alone}\t{why}\t{', '.join(where)}\n")


def main():
    out, kind, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(out, exist_ok=True)
    everything = [f"hf_{name}" for name in TRANSFORMERS] + [f"timm_{name}" for name in TIMM] + [f"tv_{name}" for name in TORCHVISION]
    for name in wanted or everything:
        path = f"{out}/{name}.{kind}.{'pt2' if kind == 'pt2' else 'onnx'}"
        if os.path.exists(path):
            continue
        began = time.time()

        def run():
            model, build, axes = made(name)
            export(model, build(2, 8), axes, kind, path)
            if kind != "pt2":
                sys.stdout.flush()
                prove(model, build, path, out)

        status = attempt(path, run)
        print(name, kind, {0: "ok"}.get(status, f"failed ({status})"), f"{time.time() - began:.0f} s", flush=True)


main()
