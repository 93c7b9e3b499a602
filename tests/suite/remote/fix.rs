//! `onnx-fix` on remote models.

use onnx_lint::graph::TensorData;
use onnx_lint::read::text;
use onnx_lint::{Saving, open};

use super::server::{Reply, Server};
use crate::tool::{CLUMSY, Sandbox, check};

#[test]
fn a_remote_model_is_fixed_like_a_local_one() {
    let sandbox = Sandbox::new(&[("local.onnxtxt", CLUMSY)]);
    let server = Server::of(CLUMSY);
    let url = server.url("model.onnxtxt?query");
    assert_eq!(sandbox.fix(&["local.onnxtxt", "-o", "a.onnx"]).status, 0);
    assert_eq!(sandbox.fix(&[&url, "-o", "b.onnx"]).status, 0);
    assert_eq!(sandbox.read("a.onnx"), sandbox.read("b.onnx"));
    assert_eq!(sandbox.fix(&[&url, "--output-dir", "out"]).status, 0);
    assert!(sandbox.path("out/model.onnxtxt").exists());
    check(&sandbox.fix(&[&url, "--in-place"]), 2, "a remote file cannot be replaced");
    check(&sandbox.fix(&["ftp://h/m.onnx", "-o", "c.onnx"]), 2, "the scheme `ftp` is not supported");
}

#[test]
fn a_failed_download_writes_nothing() {
    let sandbox = Sandbox::new(&[]);
    let server = Server::start(|_| Reply::new(404, ""));
    check(
        &sandbox.fix(&[&server.url("m.onnx"), "-o", "out.onnx"]),
        2,
        "m.onnx: cannot be read: the server has no",
    );
    let half = Server::start(|_| {
        let body = super::server::Body::Short(900, vec![8; 90]);
        Reply { body, ..Reply::new(200, "") }
    });
    check(
        &sandbox.fix(&[&half.url("m.onnx"), "-o", "out.onnx"]),
        2,
        "the response ends after 90 of 900 bytes",
    );
    assert!(!sandbox.path("out.onnx").exists());
}

#[test]
fn external_data_beside_a_remote_model_is_fetched() {
    let text = r#"<ir_version: 8, opset_import: ["" : 17]>
        main (float[N,500] x) => (float[N,500] y) <float[500,500] a = {0}> {
          h = MatMul (x, a)
          t = Transpose <perm = [1, 0]> (h)
          y = Transpose <perm = [1, 0]> (t)
        }"#;
    let mut model = text::read(text).0.expect("the text is a model");
    for (_, tensor) in model.tensors.iter_mut() {
        tensor.data = TensorData::Raw(vec![1; 1_000_000].into());
    }
    let sandbox = Sandbox::new(&[]);
    let saving = Saving { external: true, ..Saving::default() };
    saving.save(&model, sandbox.path("m.onnx")).expect("the model can be saved");
    let files = [sandbox.read("m.onnx"), sandbox.read("m.onnx.data")];
    let server = Server::start(move |request| match &*request.path {
        "/dir/m.onnx" => Reply::file(request, &files[0], "\"1\""),
        "/dir/m.onnx.data" => Reply::file(request, &files[1], "\"2\""),
        _ => Reply::new(404, ""),
    });
    let ran = sandbox.fix(&[&server.url("dir/m.onnx"), "-o", "out/fixed.onnx"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let fixed = open(sandbox.path("out/fixed.onnx")).expect("the result is complete");
    assert_eq!(fixed.model.nodes.iter().count(), 1);
    check(&sandbox.fix(&[&server.url("other/m.onnx"), "-o", "x.onnx"]), 2, "the server has no such file");
}

#[test]
fn external_data_outside_of_the_directory_is_not_fetched() {
    let text = r#"<ir_version: 8, opset_import: ["" : 17]>
        main (float[4] x) => (float[4] y) <float[4] a = ["location": "../secret.bin"]> { y = Add (x, a) }"#;
    let server = Server::of(text);
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.fix(&[&server.url("dir/m.onnxtxt"), "-o", "out.onnx"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("leads out of the directory of the model"), "{ran:?}");
    assert_eq!(server.requests().len(), 1);
}
