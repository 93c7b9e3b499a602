//! Credentials: they reach only the server that they are for, and no output.

use std::fs;

use super::server::{Reply, Server};
use super::{large, lint};
use crate::tool::Sandbox;

/// Text of all credentials in these tests.
const SECRET: &str = "hush7";

fn assert_hidden(sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) {
    for format in ["full", "json"] {
        let arguments = [arguments, &["--output-format", format]].concat();
        let ran = lint(sandbox, &arguments, environment);
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{ran:?}");
    }
}

fn assert_not_on_disk(sandbox: &Sandbox) {
    for entry in walkdir::WalkDir::new(sandbox.path("cache")).into_iter().flatten() {
        let content = fs::read(entry.path()).unwrap_or_default();
        assert!(!content.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
        assert!(!entry.path().to_string_lossy().contains(SECRET));
    }
}

#[test]
fn user_name_password_and_query_are_sent_but_not_shown() {
    let content = large();
    for status in [206, 404, 403, 500, 302, 200] {
        let file = content.clone();
        let server = Server::start(move |request| match status {
            206 => Reply::file(request, &file, "\"1\""),
            200 => Reply::new(200, b"no model hush7".to_vec()),
            302 => Reply::new(302, "").with("Location", "ftp://user:hush7@host/?hush7"),
            status => Reply::new(status, format!("error with {SECRET}")),
        });
        let url = server.url(&format!("m.onnx?signature={SECRET}"));
        let url = url.replace("http://", &format!("http://user:{SECRET}@"));
        let sandbox = Sandbox::new(&[]);
        if status != 200 {
            assert_hidden(&sandbox, &[&url], &[]);
        }
        lint(&sandbox, &[&url], &[]);
        let request = server.requests().remove(0);
        assert!(request.path.contains(SECRET));
        // Base64 of `user:hush7`.
        assert_eq!(request.header("authorization"), "Basic dXNlcjpodXNoNw==");
        assert_not_on_disk(&sandbox);
        let fixed = sandbox.fix(&[&url, "-o", "out.onnx"]);
        assert!(
            !fixed.stdout.contains(SECRET) && (status == 200 || !fixed.stderr.contains(SECRET)),
            "{fixed:?}"
        );
    }
}

#[test]
fn a_token_is_sent_to_hugging_face_only() {
    let content = large();
    let files = Server::of(content);
    let target = files.url("blob");
    // `localhost` is another server than `127.0.0.1`.
    let hub = Server::start(move |_| Reply::new(302, "").with("Location", target.clone()));
    let endpoint = hub.url("").replace("127.0.0.1", "localhost");
    let environment = [("HF_TOKEN", SECRET), ("HF_ENDPOINT", &*endpoint)];
    let sandbox = Sandbox::new(&[]);
    assert_hidden(&sandbox, &["hf://org/net@refs/pr/1/a b/m.onnx"], &environment);
    assert_hidden(&sandbox, &["hf://org/net@v1/a b/m.onnx"], &environment);
    let paths: Vec<String> = hub.requests().into_iter().map(|request| request.path).collect();
    assert!(paths.contains(&"/org/net/resolve/v1/a%20b/m.onnx".to_owned()), "{paths:?}");
    assert!(
        hub.requests().iter().all(|request| request.header("authorization") == format!("Bearer {SECRET}"))
    );
    assert!(!files.requests().is_empty());
    assert!(files.requests().iter().all(|request| request.header("authorization").is_empty()));
    assert_not_on_disk(&sandbox);
}
