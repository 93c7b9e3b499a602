//! Export logs: tracer warnings and failures become findings, other warnings and lines do not.

use onnx_lint::export_log;
use onnx_lint::source::SourceFiles;

/// Reads a log and compares its findings, in order, as `CODE level line`.
#[track_caller]
fn check(log: &str, expected: &[&str]) {
    let findings = export_log::read(log, "export.log", &SourceFiles::default());
    let codes: Vec<String> = findings
        .iter()
        .map(|finding| {
            let line = finding.source.as_ref().map_or(0, |source| source.line);
            format!("{} {} {line}", finding.code, finding.level)
        })
        .collect();
    assert_eq!(codes, expected, "{log}");
}

/// Returns a tracer warning as Python prints it, with its source line.
fn warned(line: u32, what: &str, code: &str) -> String {
    format!("/srv/model/net.py:{line}: TracerWarning: {what}\n  {code}\n")
}

const TO_PYTHON: &str = "might cause the trace to be incorrect. We can't record the data flow of Python values, \
                         so this value will be treated as a constant in the future. This means that the trace \
                         might not generalize to other inputs!";

#[test]
fn tracer_warnings_become_findings() {
    let branch = format!("Converting a tensor to a Python boolean {TO_PYTHON}");
    let number = format!("Converting a tensor to a Python float {TO_PYTHON}");
    check(&warned(12, &branch, "while h.norm() > eps:"), &["EXP006 warning 12"]);
    check(&warned(12, &branch, "elif (h > 0).all():"), &["EXP006 warning 12"]);
    check(&warned(31, &number, "scale = float(h.abs().mean())"), &["EXP002 warning 31"]);
    // Equal warnings have one finding.
    let both = warned(12, &branch, "if h.norm() > eps:") + &warned(31, &number, "s = float(h.mean())");
    check(&format!("{both}{both}"), &["EXP006 warning 12", "EXP002 warning 31"]);
}

#[test]
fn other_warnings_are_ignored() {
    for log in [
        "",
        "Epoch 3: loss 0.12\nsaved to net.onnx\n",
        "/srv/model/net.py:9: UserWarning: To copy construct from a tensor, it is recommended to use \
         sourceTensor.clone().detach()\n  t = torch.tensor(h)\n",
        "/srv/model/net.py:9: DeprecationWarning: `np.bool` is a deprecated alias\n  m = np.bool\n",
        // Output of the user's script that only mentions tracer warnings.
        "INFO see the TracerWarning section of our handbook before you export\n",
    ] {
        check(log, &[]);
    }
}

#[test]
fn failed_exports_are_reported() {
    let inside = "  File \"/opt/venv/lib/python3.12/site-packages/torch/onnx/utils.py\", line 1513, in _run_symbolic_function\n    raise errors\n";
    let failed = |exception: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"/srv/model/export.py\", line 8, in <module>\n    \
             torch.onnx.export(net, (x,), \"net.onnx\")\n{inside}{exception}\n"
        )
    };
    let unsupported = "torch.onnx.errors.UnsupportedOperatorError: Exporting the operator 'aten::special_erfcx' to ONNX \
                       opset version 17 is not supported.";
    // The exporter fails after `forward` has run.
    check(&failed(unsupported), &["OPS001 error 0"]);
    check(&failed("RuntimeError: the file cannot be opened"), &["EXP016 error 0"]);
    // The export fails inside of `forward`.
    let called = "  File \"/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py\", line 1779, in _call_impl\n    \
                  return forward_call(*args, **kwargs)\n  File \"/srv/model/net.py\", line 44, in forward\n    return special(h)\n";
    let log = failed("ValueError: no weights for layer 3");
    check(&log.replace(inside, &format!("{inside}{called}")), &["EXP016 error 44"]);
}
