//! Tests that only code silences checks, and that comments and docstrings do not.

use super::*;

/// Returns a script with a batch norm in training mode, whose call raises at the line with `mark`.
fn batch_norm(remark: &str, mark: &str) -> String {
    let net = forward(
        "super().__init__()\nself.norm = nn.BatchNorm1d(4)",
        "x",
        &format!("return self.norm(x){mark}"),
    );
    format!("{net}\n\n{remark}\nNet()(torch.randn(1, 4))\n")
}

#[test]
fn comments_and_docstrings_do_not_silence_checks() {
    for remark in [
        "",
        "# Net().apply(init)",
        "'''Net().apply(init)'''",
        "def f():\n    '''.apply(x)'''\n    return 1\n",
    ] {
        check(&batch_norm(remark, "  #! shape-mismatch"));
    }
    for code in ["Net().apply(print)", "code = 'net.apply(print)'"] {
        check(&batch_norm(code, ""));
    }
}

#[test]
fn only_names_of_contexts_swallow_exceptions() {
    let script = |before: &str, context: &str, mark: &str| {
        format!("{before}\nwith {context}:\n    torch.zeros(2, 3) @ torch.zeros(2, 3){mark}\n")
    };
    let mark = "  #! shape-mismatch";
    check(&script("# suppress() raises", "torch.no_grad()", mark));
    check(&script("print('suppress')\nfrom clock import timer", "timer('raises')", mark));
    check(&script("from contextlib import suppress", "suppress(RuntimeError)", ""));
    check(&script("import contextlib as c", "c.suppress(RuntimeError)", ""));
    check(&script("from contextlib import suppress as quiet", "quiet(RuntimeError)", ""));
    check(&script("import pytest", "pytest.raises(RuntimeError)", ""));
}

#[test]
fn only_enumerations_make_members_of_strings() {
    let export = "torch.onnx.export(nn.Linear(3, 4), torch.randn(2, 3), f'{KIND}.onnx', dynamo=False)";
    let twice = |before: &str, mark: &str| {
        format!("{before}\nfor kind in ['a', 'b']:\n    {}{mark}\n", export.replace("{KIND}", "net"))
    };
    check(&twice("# Kind(str, Enum)", "  #! overwritten-file"));
}
