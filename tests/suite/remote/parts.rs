//! Parts of a remote model that the linter reads, and findings about the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::server::{Reply, Server};
use super::{large, lint, whole};
use crate::tool::{PITFALLS, Sandbox};

#[test]
fn a_remote_model_has_the_findings_of_a_local_one() {
    for name in PITFALLS {
        for opset in [13, 17] {
            let path =
                format!("{}/tests/pitfalls/exported/{name}.ts{opset}.onnx", env!("CARGO_MANIFEST_DIR"));
            let content = std::fs::read(path).expect("the model exists");
            let server = Server::of(content.clone());
            let url = server.url("model.onnx");
            assert_eq!(lint(&Sandbox::new(&[]), &[&url], &[]), whole(&content, &url), "{name}");
        }
    }
}

#[test]
fn large_tensors_are_not_read() {
    let content = large();
    let server = Server::of(content.clone());
    let url = server.url("model.onnx");
    let ran = lint(&Sandbox::new(&[]), &[&url], &[]);
    assert!(ran.stdout.contains("SPC011") || ran.stdout.contains("ghost"), "{ran:?}");
    assert_eq!(ran, whole(&content, &url));
    assert!(server.sent() < 100_000, "{} of {} bytes", server.sent(), content.len());
}

#[test]
fn a_truncated_model_has_the_finding_of_a_local_one() {
    let content = large();
    for len in [0, 1, 100, 500_000, 1_500_000, content.len() - 1] {
        let server = Server::of(&content[..len]);
        let url = server.url("model.onnx");
        let ran = lint(&Sandbox::new(&[]), &[&url], &[]);
        assert_eq!(ran.status, 2);
        assert_eq!(ran, whole(&content[..len], &url), "{len} bytes");
    }
}

#[test]
fn files_of_other_kinds_are_read_as_a_whole() {
    let server = Server::start(|request| {
        let file: &[u8] = match &*request.path {
            "/model.onnxtxt" => crate::tool::FAULTY.as_bytes(),
            "/page.onnx" => b"<html>404</html>",
            _ => b"import torch\nx = torch.ones(2).view(3, )\n",
        };
        Reply::file(request, file, "\"1\"")
    });
    let sandbox = Sandbox::new(&[]);
    let text = lint(&sandbox, &[&server.url("model.onnxtxt")], &[]);
    assert_eq!(text.status, 1);
    assert!(text.stdout.contains("ghost"), "{text:?}");
    let page = lint(&sandbox, &[&server.url("page.onnx")], &[]);
    assert_eq!(page.status, 2);
    assert!(page.stdout.contains("text that starts with `<html>404</html>`"), "{page:?}");
    assert_ne!(lint(&sandbox, &[&server.url("script.py")], &[]).status, 2);
}

#[test]
fn a_server_without_ranges_is_read_as_a_whole() {
    let content = large();
    let file = content.clone();
    let server = Server::start(move |_| Reply::new(200, file.clone()));
    let url = server.url("model.onnx");
    assert_eq!(lint(&Sandbox::new(&[]), &[&url], &[]), whole(&content, &url));
}

#[test]
fn parts_are_cached_until_the_file_changes() {
    let (content, sandbox) = (large(), Sandbox::new(&[]));
    let file = content.clone();
    let version = Arc::new(AtomicUsize::new(1));
    let served = version.clone();
    let server = Server::start(move |request| {
        Reply::file(request, &file, &format!("\"{}\"", served.load(Ordering::SeqCst)))
    });
    let url = server.url("model.onnx");
    let first = lint(&sandbox, &[&url], &[]);
    let requests = server.requests().len();
    assert!(requests > 1);
    assert_eq!(lint(&sandbox, &[&url], &[]), first);
    assert_eq!(server.requests().len(), requests + 1, "the second run asks for the ETag only");
    version.store(2, Ordering::SeqCst);
    assert_eq!(lint(&sandbox, &[&url], &[]), first);
    assert_eq!(server.requests().len(), 2 * requests + 1, "a changed file is read again");
    assert_eq!(lint(&sandbox, &["--no-cache", &url], &[]), first);
    assert_eq!(server.requests().len(), 3 * requests + 1, "--no-cache does not use the cache");
}

#[test]
fn files_that_differ_in_the_query_are_not_cached() {
    let (content, sandbox) = (large(), Sandbox::new(&[]));
    let server = Server::start(move |request| Reply::file(request, &content, "\"1\""));
    let url = server.url("model.onnx?id=1");
    let first = lint(&sandbox, &[&url], &[]);
    let requests = server.requests().len();
    assert_eq!(lint(&sandbox, &[&url], &[]), first);
    assert_eq!(server.requests().len(), 2 * requests, "an ETag tells the versions of one URL only");
}

#[test]
fn several_uris_are_linted() {
    let content = large();
    let server = Server::of(content);
    let urls = [server.url("a.onnx"), server.url("b.onnx"), server.url("a.onnx")];
    let ran = lint(&Sandbox::new(&[]), &[&urls[0], &urls[1], &urls[2]], &[]);
    let files = |name: &str| ran.stdout.lines().filter(|line| line.starts_with(name)).count();
    assert!(files(&urls[0]) > 0, "{ran:?}");
    assert_eq!(files(&urls[0]), files(&urls[1]));
}
