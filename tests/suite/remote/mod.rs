//! Models at URIs, on a server of this machine.

#![cfg(feature = "remote")]

mod faults;
mod fix;
mod parts;
mod secrets;
mod server;
mod stores;
mod tls;

use std::ffi::OsStr;

use onnx_lint::graph::TensorData;
use onnx_lint::read::text;

use crate::tool::{Ran, Sandbox};

/// Returns a model whose weights have 1,000,000 bytes each, with a node that has a finding.
fn large() -> Vec<u8> {
    let text = r#"<ir_version: 8, opset_import: ["" : 17]>
        main (float[N,500] x) => (float[N,500] y) <float[500,500] a = {0}, float[500,500] b = {0}> {
          h = MatMul (x, a)
          t = Transpose <perm = [1, 0]> (h)
          u = Transpose <perm = [1, 0]> (t)
          v = Add (u, ghost)
          y = MatMul (v, b)
        }"#;
    let mut model = text::read(text).0.expect("the text is a model");
    for (_, tensor) in model.tensors.iter_mut() {
        tensor.data = TensorData::Raw(vec![1; 1_000_000].into());
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.onnx");
    onnx_lint::save(&model, &path).expect("the model can be saved");
    std::fs::read(path).expect("the model was saved")
}

/// Runs `onnx-lint` on URIs, with a cache in the sandbox and further environment variables.
fn lint(sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let cache = sandbox.path("cache");
    let mut environment: Vec<(&str, &OsStr)> =
        environment.iter().map(|&(name, value)| (name, OsStr::new(value))).collect();
    environment.push(("ONNX_LINT_CACHE_DIR", cache.as_os_str()));
    environment.push(("ONNX_LINT_OUTPUT_FORMAT", OsStr::new("concise")));
    sandbox.lint_with(&[&["--isolated"], arguments].concat(), &environment)
}

/// Lints a local file with the content of a remote file; the output has the name of the remote file.
fn whole(content: &[u8], name: &str) -> Ran {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("local.onnx", content);
    let ran = sandbox.lint(&["--isolated", "--output-format", "concise", "local.onnx"]);
    Ran { stdout: ran.stdout.replace("local.onnx", name), ..ran }
}
