#!/usr/bin/env python3
"""check.py ONNX_FIX FOLDER [-v]: makes the batch of models dynamic, and runs them on several samples.

The batch is axis 0 of every input, except for the inputs in AXES. For N = 1, 2, 3 and 5 samples, the outputs must
equal those of N runs of the exported model on one sample each. Prints the verdict (right, refused, WRONG) for each
model that is not right, or for all with -v. Exits with 1 if a model is wrong or fewer than 80 % are right. Needs numpy
and onnxruntime.
"""
import glob, os, subprocess, sys, tempfile
import numpy as np, onnxruntime as ort

AXES = {("gpt", "past"): 2}
OUT = {("gpt", 1): 2}


def session(path):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def verdict(fix, path):
    name = os.path.basename(path).split(".")[0]
    before = session(path)
    inputs = before.get_inputs()
    axes = {i.name: AXES.get((name, i.name), 0) for i in inputs}
    rng = np.random.default_rng(0)

    def draw(i):
        if "int" in i.type:
            return rng.integers(0, 2 if "mask" in i.name else 9, i.shape).astype(np.int64)
        return rng.standard_normal(i.shape).astype(np.float32)

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.onnx")
        asked = [x for i in inputs for x in ("--dynamic", f"{i.name}:{axes[i.name]}=N")]
        done = subprocess.run([fix, path, "-o", out, "--isolated", *asked], capture_output=True, text=True)
        if done.returncode:
            return "refused", (done.stderr + done.stdout).strip()
        after = session(out)
        worst = 0
        for n in (1, 2, 3, 5):
            feeds = [{i.name: draw(i) for i in inputs} for _ in range(n)]
            want = [before.run(None, f) for f in feeds]
            try:
                got = after.run(None, {i.name: np.concatenate([f[i.name] for f in feeds], axes[i.name]) for i in inputs})
            except Exception as error:
                return "WRONG", f"at {n}: {str(error)[:200]}"
            for k, g in enumerate(got):
                w = np.concatenate([w[k] for w in want], OUT.get((name, k), 0))
                if w.shape != g.shape or not np.allclose(w, g, rtol=1e-3, atol=1e-4, equal_nan=True):
                    return "WRONG", f"at {n}, output {k}: {w.shape} {g.shape}"
        return "right", ""


def main():
    fix, folder = sys.argv[1:3]
    count = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.onnx"))):
        found, why = verdict(fix, path)
        count[found] = count.get(found, 0) + 1
        if found != "right" or "-v" in sys.argv:
            print(os.path.basename(path), found, why[:1500])
    print(count)
    sys.exit(count.get("WRONG", 0) > 0 or count.get("right", 0) < 0.8 * sum(count.values()))


main()
