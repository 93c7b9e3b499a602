//! Invalid model files.
//!
//! `onnx-lint` exits with status 2, or 1 for faults of external data, and its output matches a snapshot. `onnx-fix`
//! does not panic.

use onnx_lint::proto::tensor_proto::DataLocation;
use onnx_lint::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
    TensorProto,
};
use prost::Message;

use crate::tool::{Sandbox, snapshot};

/// Returns a model with one initializer, `w`, which an Identity copies to the output.
fn model(tensor: TensorProto) -> ModelProto {
    let name = |name: &str| Some(name.to_owned());
    let node = NodeProto {
        input: vec!["w".to_owned()],
        output: vec!["y".to_owned()],
        op_type: name("Identity"),
        ..NodeProto::default()
    };
    let output = onnx_lint::proto::ValueInfoProto { name: name("y"), ..Default::default() };
    let graph = GraphProto {
        name: name("main"),
        node: vec![node],
        initializer: vec![TensorProto { name: name("w"), ..tensor }],
        output: vec![output],
        ..GraphProto::default()
    };
    ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { version: Some(17), ..OperatorSetIdProto::default() }],
        graph: Some(graph),
        ..ModelProto::default()
    }
}

fn external(entries: &[(&str, &str)]) -> Vec<u8> {
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    };
    let tensor = TensorProto {
        dims: vec![4],
        data_type: Some(1),
        data_location: Some(DataLocation::External as i32),
        external_data: entries.iter().map(entry).collect(),
        ..TensorProto::default()
    };
    model(tensor).encode_to_vec()
}

/// Returns a model with `depth` levels of nested graphs.
fn nested(depth: usize) -> Vec<u8> {
    let mut graph = GraphProto::default();
    for _ in 0..depth {
        let attribute =
            AttributeProto { name: Some("body".to_owned()), g: Some(graph), ..Default::default() };
        let node =
            NodeProto { op_type: Some("If".to_owned()), attribute: vec![attribute], ..Default::default() };
        graph = GraphProto { node: vec![node], ..GraphProto::default() };
    }
    ModelProto { graph: Some(graph), ..ModelProto::default() }.encode_to_vec()
}

fn check(name: &str, content: impl AsRef<[u8]>) {
    check_status(name, content, 2);
}

/// Checks a model whose external data is missing or invalid: the model itself is readable.
fn check_external(name: &str, entries: &[(&str, &str)]) {
    check_status(name, external(entries), 1);
}

fn check_status(name: &str, content: impl AsRef<[u8]>, status: i32) {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("inside/net.onnx", content);
    sandbox.write("secret", [0u8; 64]);
    sandbox.write("inside/short.bin", [0u8; 8]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(sandbox.path("secret"), sandbox.path("inside/link.bin")).expect("a link");
    let ran = sandbox.lint(&["inside/net.onnx"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (status, ""), "{name}: {}", ran.stdout);
    snapshot("bad_models", name, &ran.stdout);
    let fixed = sandbox.fix(&["inside/net.onnx", "-o", "out.onnx"]);
    assert!(!fixed.stderr.contains("panicked"), "{name}: {}", fixed.stderr);
    assert!(!fixed.stderr.contains("please report"), "{name}: {}", fixed.stderr);
}

#[test]
fn input_that_is_not_a_model_is_reported() {
    check("empty", "");
    check(
        "random-bytes",
        (0..400u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<u8>>(),
    );
    check("html", "<!DOCTYPE html><html><body>404</body></html>");
    check("lfs-pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n");
    check("no-graph", ModelProto { ir_version: Some(8), ..ModelProto::default() }.encode_to_vec());
    check("text-cut-off", "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float x) => (flo");
    check("textproto-cut-off", "ir_version: 8\ngraph {\n  node {\n");
    check("json-cut-off", "{\"irVersion\": \"8\", \"graph\": {");
    check("zip", b"PK\x03\x04 and nothing more");
}

#[test]
fn truncated_or_deeply_nested_models_are_reported() {
    let tensor = TensorProto {
        dims: vec![4],
        data_type: Some(1),
        raw_data: Some(vec![0; 16].into()),
        ..Default::default()
    };
    let whole = model(tensor).encode_to_vec();
    check("cut-off", &whole[..whole.len() - 9]);
    check("deep-nesting", nested(60));
    check(
        "text-deep-nesting",
        format!(
            "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float x) => (float y) {{ {}",
            "y = If (x) <then_branch = g () => (float y) { ".repeat(20_000)
        ),
    );
}

#[test]
fn sizes_beyond_the_data_are_reported() {
    let tensor = |dims: &[i64], bytes: usize| TensorProto {
        dims: dims.to_vec(),
        data_type: Some(1),
        raw_data: Some(vec![0; bytes].into()),
        ..TensorProto::default()
    };
    check("too-few-bytes", model(tensor(&[4], 12)).encode_to_vec());
    check("huge-shape", model(tensor(&[i64::MAX, i64::MAX], 4)).encode_to_vec());
    check("negative-dim", model(tensor(&[-1], 4)).encode_to_vec());
    check_external("external-out-of-range", &[("location", "short.bin"), ("offset", "4"), ("length", "16")]);
    check_external("external-huge-offset", &[("location", "short.bin"), ("offset", "18446744073709551615")]);
}

#[test]
fn external_data_outside_of_the_model_directory_is_rejected() {
    check_external("external-missing", &[("location", "missing.bin")]);
    check_external("external-absolute", &[("location", "/etc/passwd")]);
    check_external("external-parent", &[("location", "../secret")]);
    #[cfg(unix)]
    check_external("external-link", &[("location", "link.bin")]);
}
