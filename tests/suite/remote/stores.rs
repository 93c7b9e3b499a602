//! Object stores, by their interface on a server of this machine.

use super::server::{Reply, Server};
use super::{large, lint, whole};
use crate::tool::{Ran, Sandbox};

/// Lints a file with these environment variables.
fn run(uri: &str, environment: &[(&str, &str)]) -> Ran {
    lint(&Sandbox::new(&[]), &["--deadline", "30", uri], environment)
}

fn assert_fault(ran: &Ran, expected: &str) {
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stdout.contains(expected), "{expected}: {ran:?}");
}

#[test]
fn s3_reads_ranges_with_a_signature() {
    let content = large();
    let server = Server::of(content.clone());
    let endpoint = server.url("");
    let known = [
        ("AWS_ENDPOINT_URL", endpoint.trim_end_matches('/')),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "hush7"),
    ];
    let ran = run("s3://bucket/dir/model.onnx", &known);
    assert_eq!(ran, whole(&content, "s3://bucket/dir/model.onnx"));
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path == "/bucket/dir/model.onnx"), "{requests:?}");
    assert!(requests.iter().all(|request| request.header("authorization").starts_with("AWS4-HMAC-SHA256")));
    assert!(server.sent() < 100_000);
    let open = run("s3://bucket/m.onnx", &[known[0], ("AWS_SKIP_SIGNATURE", "true")]);
    assert_eq!(open.status, 1, "{open:?}");
}

#[test]
fn gs_reads_ranges() {
    let content = large();
    let server = Server::of(content.clone());
    let endpoint = server.url("");
    let known = [("GOOGLE_BASE_URL", endpoint.trim_end_matches('/')), ("GOOGLE_SKIP_SIGNATURE", "true")];
    let ran = run("gs://bucket/dir/model.onnx", &known);
    assert_eq!(ran, whole(&content, "gs://bucket/dir/model.onnx"));
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path == "/bucket/dir%2Fmodel%2Eonnx"), "{requests:?}");
    assert!(server.sent() < 100_000);
}

#[test]
fn az_reads_ranges_with_a_signature() {
    let content = large();
    let server = Server::of(content.clone());
    let endpoint = server.url("");
    let known = [
        ("AZURE_STORAGE_USE_EMULATOR", "true"),
        ("AZURITE_BLOB_STORAGE_URL", endpoint.trim_end_matches('/')),
        ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "aHVzaDc="),
    ];
    let ran = run("az://container/dir/model.onnx", &known);
    assert_eq!(ran, whole(&content, "az://container/dir/model.onnx"));
    let requests = server.requests();
    assert!(
        requests.iter().all(|request| request.path == "/account/container/dir/model.onnx"),
        "{requests:?}"
    );
    assert!(requests.iter().all(|request| request.header("authorization").starts_with("SharedKey account:")));
    assert!(server.sent() < 100_000);
}

#[test]
fn credentials_are_sent_to_other_machines_with_tls_only() {
    let known = [
        ("AWS_ENDPOINT_URL", "http://storage.invalid"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "hush7"),
    ];
    assert_fault(&run("s3://bucket/m.onnx", &known), "the endpoint has no TLS: set AWS_ALLOW_HTTP=true");
    let known = [("GOOGLE_BASE_URL", "http://storage.invalid"), ("GOOGLE_SKIP_SIGNATURE", "true")];
    assert_fault(&run("gs://bucket/m.onnx", &known), "the endpoint has no TLS");
}

#[test]
fn a_denied_bucket_is_a_fault() {
    let server = Server::start(|_| Reply::new(403, "<Error><Code>AccessDenied</Code></Error>"));
    let endpoint = server.url("");
    let ran = run(
        "s3://bucket/m.onnx",
        &[("AWS_ENDPOINT_URL", endpoint.trim_end_matches('/')), ("AWS_SKIP_SIGNATURE", "true")],
    );
    assert_fault(&ran, "the server refuses access: set AWS_ACCESS_KEY_ID");
}

#[test]
fn a_bucket_of_another_region_is_a_fault() {
    let server = Server::start(|_| Reply::new(301, "<Error><Code>PermanentRedirect</Code></Error>"));
    let endpoint = server.url("");
    let ran = run(
        "s3://bucket/m.onnx",
        &[("AWS_ENDPOINT_URL", endpoint.trim_end_matches('/')), ("AWS_SKIP_SIGNATURE", "true")],
    );
    assert_fault(&ran, "the bucket is in another region: set AWS_REGION");
}

#[test]
fn incomplete_uris_and_environments_are_faults() {
    assert_fault(&run("s3://bucket", &[]), "the URI names no file in a bucket");
    assert_fault(&run("s3://bucket/a/../b", &[]), "the key of the URI has empty, `.` or `..` parts");
    assert_fault(&run("az://container/m.onnx", &[]), "set AZURE_STORAGE_ACCOUNT_NAME");
    assert_fault(&run("hf://org/m.onnx", &[]), "write it as hf://ORG/REPOSITORY[@REVISION]/PATH");
    assert_fault(
        &run("hf://o/n/m.onnx", &[("HF_ENDPOINT", "http://example.com")]),
        "HF_ENDPOINT is not the address",
    );
    assert_fault(
        &run("hf://o/n/m.onnx", &[("HF_TOKEN", "a\nb"), ("HF_ENDPOINT", "http://127.0.0.1:9")]),
        "the token",
    );
}
