//! Tests on whole logs.

use super::*;

/// Compares the findings as `rule level file:line`, or with `log:line` if the source is unknown.
fn check(log: &str, expected: &[&str]) {
    let findings = read(log, "export.log", &SourceFiles::default());
    let reported: Vec<String> = findings.iter().map(show).collect();
    assert_eq!(reported, expected, "{log}");
}

fn show(finding: &Finding) -> String {
    let place = match (&finding.source, &finding.place) {
        (Some(source), _) => format!("{}:{}", source.file, source.line),
        (None, crate::diag::Place::Text(text)) => format!("log:{}", text.line),
        _ => "nowhere".to_owned(),
    };
    format!("{} {} {place}", finding.rule, finding.level)
}

const CONVERTING: &str =
    "might cause the trace to be incorrect. We can't record the data flow of Python values";
const CONSTANTS: &str =
    "results are registered as constants in the trace. You can safely ignore this warning";

fn converting(into: &str, code: &str) -> String {
    format!("/app/net.py:7: TracerWarning: Converting a tensor to a {into} {CONVERTING}\n  {code}\n")
}

#[test]
fn conversions_to_python_values_are_reported() {
    let at_7 = |rule: &str| format!("{rule} warning /app/net.py:7");
    for (into, code, rule) in [
        ("Python boolean", "if x.sum() > 0:", "traced-branch"),
        ("Python boolean", "y = a if mask.any() else b", "traced-branch"),
        ("Python boolean", "if level > 0.5:", "traced-branch"),
        ("Python boolean", "if norm(x) > 1:", "traced-branch"),
        ("Python boolean", "masked = mask is not None and mask.sum() > 0", "traced-branch"),
        ("Python integer", "return x * int(k.max())", "item-baked"),
        ("Python float", "return x * math.exp(k.max())", "item-baked"),
        ("Python index", "for i in range(x.shape[0]):", "unrolled-loop"),
        ("Python index", "return self.table[k]", "item-baked"),
        ("Python float", "s = float(x.max())", "item-baked"),
        ("Python number", "s = x.max().item()", "item-baked"),
        ("Python list", "sizes = lengths.tolist()", "item-baked"),
        ("NumPy array", "s = x.numpy()", "numpy-constant"),
    ] {
        check(&converting(into, code), &[&at_7(rule)]);
    }
    check(&converting("Python boolean", "assert x.shape[0] == 2"), &["traced-branch info /app/net.py:7"]);
    // Level info: a size or an attribute of the model may be the same for every input.
    for (into, code, rule) in [
        ("Python integer", "n = int(x.shape[0] / 2)", "baked-shape"),
        ("Python float", "s = q / math.sqrt(q.size(-1))", "baked-shape"),
        ("Python float", "scores = (q @ k.transpose(-1, -2) / math.sqrt(d)).softmax(-1)", "item-baked"),
        ("Python integer", "top = int(round((h - 6) / 2.0))", "item-baked"),
        ("Python boolean", "grid = np.meshgrid(np.arange(w), np.arange(h))", "numpy-constant"),
        ("Python integer", "n = int(np.prod(x.shape[1:]))", "numpy-constant"),
        ("Python boolean", "if x.shape[1] > 8:", "traced-branch"),
        ("Python boolean", "if height % 8 != 0 or W > self.limit - 1:", "traced-branch"),
        ("Python boolean", "if not self.enabled:", "traced-branch"),
        ("Python boolean", "is_causal = q_length > 1 and mask is None and is_causal", "traced-branch"),
        ("Python number", "s = x * self.scale.item()", "item-baked"),
        ("Python integer", "grid = F.avg_pool2d(x, (int(h), int(w)))", "item-baked"),
    ] {
        check(&converting(into, code), &[&format!("{rule} info /app/net.py:7")]);
    }
}

#[test]
fn constants_are_reported_unless_literal() {
    let warned = |function: &str, code: &str| {
        format!("/app/net.py:7: TracerWarning: {function} {CONSTANTS}\n  {code}\n")
    };
    // Level info: the line does not show whether the constant depends on the input.
    let perhaps = "numpy-constant info /app/net.py:7";
    let wrong = "numpy-constant warning /app/net.py:7";
    check(&warned("torch.tensor", "y = x + torch.tensor([[1., -2e3], [True, 4]], dtype=torch.float32)"), &[]);
    check(&warned("torch.tensor", "data[torch.tensor([2, 3]), :, torch.tensor([1, 2])] = new"), &[]);
    check(&warned("torch.tensor", "y = x + torch.tensor([scale])"), &[perhaps]);
    // A single size is traced: the graph has a Shape node.
    check(&warned("torch.tensor", "y = x.view(torch.tensor(x.shape[0]), 3)"), &[]);
    check(&warned("torch.tensor", "y = x / torch.tensor([x.size(1), 2.0])"), &[wrong]);
    check(&warned("torch.as_tensor", "y = torch.as_tensor(np.arange(3))"), &[perhaps]);
    check(&warned("torch.from_numpy", "y = torch.from_numpy(np.ones((2, 5)))"), &[perhaps]);
    check(&warned("torch.from_numpy", "y = torch.from_numpy(np.ones(x.shape[1]))"), &[wrong]);
}

#[test]
fn other_tracer_warnings_are_reported() {
    check(
        "/app/net.py:3: TracerWarning: Iterating over a tensor might cause the trace to be incorrect. Passing\n  \
         for row in x:\n\
         /app/net.py:4: TracerWarning: Using len to get tensor shape might cause the trace to be incorrect. Rec\n  \
         n = len(x)\n\
         /app/net.py:5: TracerWarning: There are 3 live references to the data region being modified when \
         tracing in-place operator add_. This might cause the trace to be incorrect, because\n  y += 1\n",
        &[
            "unrolled-loop warning /app/net.py:3",
            "baked-shape info /app/net.py:4",
            "in-place-view-lost warning /app/net.py:5",
        ],
    );
}

#[test]
fn locations_after_logger_prefixes_are_read() {
    let message = format!("TracerWarning: Converting a tensor to a Python boolean {CONVERTING}");
    for (head, file) in [
        ("/app/my net.py", "/app/my net.py"),
        ("WARNING:py.warnings:/app/net.py", "/app/net.py"),
        ("2026-01-31 12:00:00,1 [WARNING] /app/net.py", "/app/net.py"),
        (r"C:\work\net.py", r"C:\work\net.py"),
        ("    /app/net.py", "/app/net.py"),
        ("net.py", "net.py"),
        ("<ipython-input-3-0a>", "<ipython-input-3-0a>"),
    ] {
        check(&format!("{head}:66: {message}"), &[&format!("traced-branch warning {file}:66")]);
    }
    check(
        &format!("/venv/lib/python3.11/site-packages/torch/nn/functional.py:66: {message}"),
        &["traced-branch info log:1"],
    );
    check(&message, &["traced-branch warning log:1"]);
    let of_a_package = "/venv/lib/python3.11/site-packages/transformers/net.py:66";
    check(&format!("{of_a_package}: {message}"), &[&format!("traced-branch info {of_a_package}")]);
}

#[test]
fn repeated_warnings_are_one_finding() {
    let log = converting("Python boolean", "if a:").repeat(3);
    check(&log, &["traced-branch warning /app/net.py:7"]);
    assert_eq!(remarks(&log, "export.log", &SourceFiles::default())[0].count, 3);
}

#[test]
fn exporter_warnings_are_reported() {
    check(
        "u.py:1: UserWarning: Exporting a model while it is in training mode. Please ensure\n\
         u.py:2: UserWarning: ONNX export mode is set to TrainingMode.EVAL, but operator 'dropout' is set to \
         train=True. Exporting with train=True.\n\
         u.py:3: UserWarning: Provided key im for dynamic axes is not a valid input/output name\n\
         u.py:4: UserWarning: Exporting a model to ONNX with a batch_size other than 1, with a variable length\n\
         u.py:5: UserWarning: Exporting aten::index operator of advanced indexing in opset 17 is achieved by \
         combination of multiple ONNX operators. If indices include negative values, the exported graph\n\
         u.py:6: DeprecationWarning: You are using the legacy TorchScript-based ONNX export.\n",
        &[
            "training-mode warning u.py:1",
            "training-mode error u.py:2",
            "lost-symbol warning u.py:3",
            "baked-shape warning u.py:4",
            "negative-index info u.py:5",
        ],
    );
}

const GRAPH: &str = "Torch IR graph at exception: graph(%0 : Float(2, 4)):\n  \
    %3 : Float(2, 4) = aten::special_bessel_j0(%0), scope: M:: # /app/net.py:170:0\n  \
    %4 : Float(2, 4) = ^Square()(%3), scope: M:: # /app/net.py:171:0\n  return (%3)\n\n";

#[test]
fn exceptions_are_attributed_to_lines_in_the_graph() {
    let raised = |message: &str| {
        format!(
            "{GRAPH}Traceback (most recent call last):\n  File \"/app/export.py\", line 3, in main\n    go()\n\
            torch.onnx.errors.UnsupportedOperatorError: {message}\n"
        )
    };
    check(
        &raised("Exporting the operator 'aten::special_bessel_j0' to ONNX opset version 17 is not supported"),
        &["unsupported-op error /app/net.py:170"],
    );
    check(&raised("Couldn't export Python operator Square"), &["python-op error /app/net.py:171"]);
    check(
        &raised("Exporting the operator 'aten::other' to ONNX opset version 17 is not supported"),
        &["unsupported-op error log:9"],
    );
    check(&raised("list index out of range"), &["export-failed error log:9"]);
}

#[test]
fn specialized_size_is_attributed_to_its_guard() {
    let raised = "Traceback (most recent call last):\n  File \"/app/export.py\", line 3, in main\n    go()\n\
                  torch._dynamo.exc.UserError: Constraints violated (L['x'].size()[0])! For\n  - You marked \
                  L['x'].size()[0] as dynamic but your code specialized it to be a constant (2). If\n";
    for guard in [
        "I0601 symbolic_shapes.py:5108] [0/0] eval Eq(s0, 2) [guard added] at /app/net.py:60 in forward (_ops.py:9 in f)",
        "I0601 symbolic_shapes.py:6630] eval Eq(s77, 2) [guard added] y = x.view(2, 3)  # /app/net.py:60 in forward (_ops.py:9 in f)",
    ] {
        check(&format!("{guard}\n{raised}"), &["baked-shape error /app/net.py:60"]);
    }
    check(raised, &["baked-shape error log:4"]);
}

#[test]
fn long_guard_is_truncated() {
    let sum: Vec<String> = (0..90).map(|class| format!("4*Min(300, u{class})")).collect();
    let log = format!(
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on data-dependent \
         expression {} > 4000 (unhinted: 4 > 4000).  (Size-like symbols: u1)\n\n\
         Caused by: (torchvision/ops/boxes.py:86 in batched_nms)\n",
        sum.join(" + ")
    );
    let findings = read(&log, "export.log", &SourceFiles::default());
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].message.contains("(`4*Min(300, u0) + "), "{}", findings[0].message);
    assert!(findings[0].message.chars().count() < 200, "{}", findings[0].message);
}

#[test]
fn failed_checks_of_the_tracer_are_reported() {
    check(
        "u.py:1: TracerWarning: Trace had nondeterministic nodes. Did you forget call .eval() on your model?\n\
         u.py:2: TracerWarning: Output nr 1. of the traced function does not match the corresponding output of the \
         Python function. Detailed error:\n\
         u.py:3: TracerWarning: torch.Tensor.resize can't be represented in the JIT at the moment, so we won't\n\
         u.py:4: TracerWarning: Tensor-valued Constant nodes differed in value across invocations.\n",
        &[
            "training-mode warning u.py:1",
            "traced-branch warning u.py:2",
            "numpy-constant warning u.py:3",
            "numpy-constant warning u.py:4",
        ],
    );
}

#[test]
fn diagnostics_of_the_exporter_are_reported() {
    let rule = "======================= 0 NONE 0 NOTE 0 WARNING 1 ERROR ========================\n\
                ERROR: missing-standard-symbolic-function\n=========================================\nNone\n";
    check(rule, &["unsupported-op error log:2"]);
    let raised =
        "RuntimeError: Exporting the operator 'aten::foo' to ONNX opset version 9 is not supported.\n";
    check(&format!("{rule}{raised}"), &["unsupported-op error log:5"]);
}

#[test]
fn unrelated_and_truncated_lines_are_ignored() {
    for log in [
        "",
        "\n\n\u{1b}[31m",
        "%\n%%=\n# : :\n",
        "Warning: \nTracerWarning: \n:TracerWarning: ",
        "RuntimeError: list index out of range",
        "There are  live references to the data region being modified",
        "ONNX Preprocess - Removing mutation from node aten::add_ on block input: '",
        "specialized it to be a constant (",
        "epoch 3: 100%|█████| loss 0.1, Warning: é",
    ] {
        check(log, &[]);
    }
    check("Traceback (most recent call last):\n  File \"/app/net.py\", line", &["export-failed info log:1"]);
    check("/app/net.py:3: TracerWarning: Converting a tensor to a", &["unreadable-part info /app/net.py:3"]);
}

#[test]
fn pitfalls_are_found_in_their_logs() {
    let exported = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pitfalls/exported");
    for (log, rule, lines) in [
        ("BakedBatch.dynamo", "baked-shape", 59..=60),
        ("BakedBatch.pt2", "baked-shape", 59..=60),
        ("UnsupportedOp.dynamo", "unsupported-op", 169..=170),
        ("DataDependentBranch.dynamo", "traced-branch", 65..=68),
        ("DataDependentBranch.pt2", "traced-branch", 65..=68),
        ("DataDependentBranch.ts17", "traced-branch", 65..=68),
        ("InPlaceShape.ts17", "in-place-shape-alias", 36..=40),
        ("IndexPutNonConsecutive.ts17", "index-put-non-consecutive", 123..=126),
        ("IntOfTensor.pt2", "item-baked", 30..=31),
        ("IntOfTensor.ts17", "item-baked", 30..=31),
        ("ItemInReshape.ts17", "item-baked", 24..=25),
        ("NumpyConstant.ts17", "numpy-constant", 45..=47),
        ("NumpyRoundTrip.ts17", "numpy-constant", 52..=54),
        ("NumpyRoundTrip.pt2", "numpy-constant", 52..=54),
        ("UnsupportedOp.ts17", "unsupported-op", 169..=170),
    ] {
        let name = format!("{exported}/{log}.log");
        let text = std::fs::read_to_string(&name).expect("a log of the pitfalls");
        let findings = read(&text, &name, &SourceFiles::default());
        let hit = |finding: &Finding| {
            &*finding.rule == rule && finding.source.as_ref().is_some_and(|s| lines.contains(&s.line))
        };
        assert!(findings.iter().any(hit), "{log}: {:?}", findings.iter().map(show).collect::<Vec<_>>());
    }
}

#[test]
fn violated_constraints_are_found_without_a_traceback() {
    let log = "torch._dynamo.exc.UserError: Constraints violated (batch)! For more information, run with \
               TORCH_LOGS=\"+dynamic\".\n  - Not all values of batch = L['x'].size()[0] in the specified range \
               batch <= 10 satisfy the generated guard Eq(L['x'].size()[0], 4).\nSuggested fixes:\n  batch = 4\n";
    check(log, &["baked-shape error log:1"]);
    let findings = read(log, "export.log", &SourceFiles::default());
    assert!(findings[0].notes.iter().any(|note| note == "the exporter suggests `batch = 4`"), "{findings:?}");
}

#[test]
fn model_that_was_not_converted_was_written() {
    let log = "the opset version of the exported model will be kept at 18. Please consider\n\
               Failed to convert the model to the target version 13 using the ONNX C API. The model was not modified\n\
               Traceback (most recent call last):\n  File \"/venv/lib/python3.11/site-packages/onnx/version_converter.py\", \
               line 39, in convert_version\n    C.convert_version()\nRuntimeError: /project/resize_18_17.h:45: \
               Assertion `value == 0` failed: Resize antialias=1 is not supported\n";
    check(log, &["export-failed warning log:6"]);
    let findings = read(log, "export.log", &SourceFiles::default());
    let expected = "the model was written with opset 18: the conversion to opset 13 failed: Resize antialias=1 is not \
                    supported";
    assert_eq!(findings[0].message, expected);
}

#[test]
fn errors_of_runtimes_are_reported_once() {
    let error = "[ONNXRuntimeError] : 1 : FAIL : Load model from a.onnx failed:Type Error: Type parameter (T) of Optype \
                 (Add) bound to different types (tensor(float16) and tensor(float) in node (Add_7).";
    let class = "onnxruntime.capi.onnxruntime_pybind11_state.Fail";
    check(&format!("{class}: {error}\n"), &["export-failed error log:1"]);
    let traceback =
        "Traceback (most recent call last):\n  File \"infer.py\", line 12, in <module>\n    s = load()\n";
    check(&format!("{traceback}{class}: {error}\n"), &["export-failed error log:4"]);
    let log = "[E] [TRT] ModelImporter.cpp:948: While parsing node number 4 [Range -> \"r\"]:\n[E] [TRT] \
               ModelImporter.cpp:951: ERROR: ModelImporter.cpp:195 In function parseNode:\n[6] Invalid Node - /Range\n\
               Dynamic inputs must be int32.\n";
    check(log, &["export-failed error log:1"]);
}
