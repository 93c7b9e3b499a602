//! Faults of servers: a lasting fault is the only `SPC` finding, and the exit status is 2.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::server::{Body, Reply, Request, Server};
use super::{large, lint, whole};
use crate::tool::{Ran, Sandbox, check};

/// Lints the model of a server; checks that there is one `SPC` finding, which contains `expected`.
#[track_caller]
fn fails(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static, expected: &str) -> Server {
    let server = Server::start(handler);
    let ran = lint(&Sandbox::new(&[]), &["--deadline", "10", "--memory", "16", &server.url("m.onnx")], &[]);
    assert_fault(&ran, expected);
    server
}

#[track_caller]
fn assert_fault(ran: &Ran, expected: &str) {
    assert_eq!(ran.status, 2, "{ran:?}");
    let findings: Vec<&str> =
        ran.stdout.lines().filter(|line| line.contains("[SPC") || line.contains("SPC0")).collect();
    assert_eq!(findings.len(), 1, "{ran:?}");
    assert!(findings[0].contains(expected), "{expected}: {}", findings[0]);
}

/// Replies correctly to a request for the start of the file, and by `then` to all other requests.
fn after_start(
    then: impl Fn(&Request, &[u8]) -> Reply + Send + Sync,
) -> impl Fn(&Request) -> Reply + Send + Sync {
    let file = large();
    move |request| match request.range() {
        Some((0, _)) => Reply::file(request, &file, "\"1\""),
        _ => then(request, &file),
    }
}

#[test]
fn errors_of_the_server() {
    fails(|_| Reply::new(404, "no"), "cannot be read: the server has no such file");
    fails(|_| Reply::new(403, "no"), "the server refuses access");
    fails(|_| Reply::new(401, "no"), "the server refuses access");
    fails(|_| Reply::new(418, "no"), "the server responds with status 418");
    fails(after_start(|_, _| Reply::new(404, "")), "the server has no such file");
}

#[test]
fn a_temporary_error_is_retried() {
    let (file, count) = (large(), AtomicUsize::new(0));
    let expected = file.clone();
    let server = Server::start(move |request| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::new(503, ""),
        1 => Reply::new(429, ""),
        _ => Reply::file(request, &file, "\"1\""),
    });
    let url = server.url("m.onnx");
    assert_eq!(lint(&Sandbox::new(&[]), &[&url], &[]), whole(&expected, &url));
    let server = fails(|_| Reply::new(503, ""), "the server responds with status 503");
    assert_eq!(server.requests().len(), 4, "one attempt and three retries");
}

#[test]
fn wrong_ranges() {
    let wrong = "the server sends another range than the requested one";
    let other = |_: &Request, file: &[u8]| {
        Reply::new(206, &file[..512])
            .with("ETag", "\"1\"")
            .with("Content-Range", format!("bytes 0-511/{}", file.len()))
    };
    fails(after_start(other), wrong);
    fails(after_start(|_, _| Reply::new(206, vec![0; 512]).with("ETag", "\"1\"")), wrong);
    fails(|_| Reply::new(206, vec![0; 512]).with("Content-Range", "bytes nonsense"), wrong);
    let more = |request: &Request, file: &[u8]| {
        let reply = Reply::file(request, file, "\"1\"");
        let Body::Bytes(bytes) = reply.body else { return reply };
        Reply { body: Body::Bytes([bytes, vec![0; 1 << 20]].concat()), ..reply }
    };
    fails(after_start(more), "the server sends more bytes than requested");
}

#[test]
fn a_file_that_changes_while_it_is_read() {
    let changed = "the file changed while it was read";
    fails(after_start(|request, file| Reply::file(request, file, "\"2\"")), changed);
    fails(after_start(|request, file| Reply::file(request, &file[..file.len() - 1], "\"1\"")), changed);
    fails(after_start(|request, _| Reply::file(request, &[0; 9], "\"1\"")), changed);
    fails(after_start(|_, file| Reply::new(200, file)), changed);
}

#[test]
fn half_a_file() {
    let half = |request: &Request, file: &[u8]| {
        let reply = Reply::file(request, file, "\"1\"");
        let Body::Bytes(mut bytes) = reply.body else { return reply };
        let len = bytes.len();
        bytes.truncate(len / 2);
        Reply { body: Body::Short(len as u64, bytes), ..reply }
    };
    fails(after_start(half), "the response ends after");
    let whole = |_: &Request| Reply { body: Body::Short(9000, vec![8; 900]), ..Reply::new(200, "") };
    fails(whole, "the response ends after 900 of 9000 bytes");
}

#[test]
fn a_header_that_claims_10_gb() {
    let size = 10_000_000_000u64;
    // With ranges, the file seems to continue after the model.
    let claimed = move |request: &Request| {
        let file = large();
        let reply = Reply::file(request, &file, "\"1\"");
        let range = request.range().filter(|(first, _)| *first < file.len());
        let Some((first, last)) = range else { return Reply::new(416, "") };
        let range = format!("bytes {first}-{}/{size}", last.min(file.len() - 1));
        Reply { headers: vec![("ETag", "\"1\"".to_owned()), ("Content-Range", range)], ..reply }
    };
    fails(claimed, "cannot be read");
    let endless =
        move |_: &Request| Reply { body: Body::Short(size, vec![8; 32 << 20]), ..Reply::new(200, "") };
    fails(endless, "the server does not support ranges, and the file is larger than 16 MB");
    // A graph with a name of almost 10 GB, in a file of that size.
    let varint =
        |value: u64| (0..5).map(move |at| (value >> (7 * at)) as u8 & 0x7f | if at < 4 { 0x80 } else { 0 });
    let start: Vec<u8> =
        [0x3a].into_iter().chain(varint(size - 6)).chain([0x12]).chain(varint(size - 12)).collect();
    let field = move |request: &Request| {
        let (first, last) = request.range().unwrap_or((0, 0));
        let bytes: Vec<u8> = (first..=last).map(|at| start.get(at).copied().unwrap_or(0)).collect();
        let range = format!("bytes {first}-{last}/{size}");
        Reply::new(206, bytes).with("ETag", "\"1\"").with("Content-Range", range)
    };
    let server = fails(field, "the model has more than 256 MB besides its large tensors");
    assert!(server.sent() < 1 << 20, "{}", server.sent());
}

#[test]
fn a_server_that_never_ends() {
    fails(|_| Reply { body: Body::Endless, ..Reply::new(200, "") }, "the file is larger than 16 MB");
    let endless = |_: &Request, _: &[u8]| Reply { body: Body::Endless, ..Reply::new(404, "") };
    fails(after_start(endless), "the server has no such file");
    let server = Server::start(|_| Reply { body: Body::Silence, ..Reply::new(200, "") });
    let start = cpu_time::ProcessTime::now();
    let ran = lint(&Sandbox::new(&[]), &["--deadline", "1", &server.url("m.onnx")], &[]);
    assert_fault(&ran, "the deadline of 1 seconds is over");
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn redirects() {
    let target = Server::of(large());
    let url = target.url("m.onnx");
    let server = Server::start(move |_| Reply::new(302, "").with("Location", url.clone()));
    let ran = lint(&Sandbox::new(&[]), &[&server.url("m.onnx")], &[]);
    assert_eq!(ran, whole(&large(), &server.url("m.onnx")));
    for (to, what) in [
        ("file:///etc/passwd", "the server redirects to the scheme `file`"),
        ("ftp://127.0.0.1/m.onnx", "the server redirects to the scheme `ftp`"),
        ("http://example.com/m.onnx", "the server redirects to the scheme `http`"),
        ("http://169.254.169.254/latest", "the server redirects to the scheme `http`"),
        ("http://[", "the server redirects to an invalid address"),
    ] {
        fails(move |_| Reply::new(307, "").with("Location", to), what);
    }
    fails(|_| Reply::new(302, "").with("Location", "/again"), "more than eight addresses in a row");
}

#[test]
fn uris_that_are_not_supported() {
    let sandbox = Sandbox::new(&[]);
    check(&lint(&sandbox, &["ftp://host/m.onnx"], &[]), 2, "the scheme `ftp` is not supported");
    check(&lint(&sandbox, &["http://example.com/m.onnx"], &[]), 2, "for this machine only: use `https`");
    assert_fault(
        &lint(&sandbox, &["http://127.0.0.1:9/m.onnx"], &[]),
        "the connection fails: connection refused",
    );
    let diff = sandbox.diff(&["https://user:secret@h/m.onnx", "b.onnx"]);
    check(&diff, 2, "https://h/m.onnx: URIs are not supported here");
    check(&sandbox.lint(&["--why-not", "OPT101", "y", "s3://b/m.onnx"]), 2, "URIs are not supported here");
}
