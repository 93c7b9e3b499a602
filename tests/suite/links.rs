//! Symbolic links: `onnx-lint` follows links to files and folders, and reports those that it skips.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::tool::{FAULTY, Ran, SOUND, Sandbox};

fn link(sandbox: &Sandbox, target: &str, name: &str) {
    let path = sandbox.path(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    symlink(target, path).expect("a link");
}

/// Returns the file of each finding.
fn files(ran: &Ran) -> Vec<String> {
    let findings: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    findings.iter().map(|finding| finding["file"].as_str().expect("a string").to_owned()).collect()
}

#[test]
fn models_of_a_hub_cache_are_linted() {
    let sandbox = Sandbox::new(&[("blobs/1a", FAULTY), ("blobs/2b", SOUND)]);
    link(&sandbox, "../../blobs/1a", "snapshots/main/faulty.onnxtxt");
    link(&sandbox, "../../blobs/2b", "snapshots/main/sound.onnxtxt");
    let ran = sandbox.lint(&["--output-format", "json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(files(&ran), ["snapshots/main/faulty.onnxtxt"]);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_file_is_linted_once_however_many_links_lead_to_it() {
    let sandbox = Sandbox::new(&[("a/faulty.onnxtxt", FAULTY)]);
    link(&sandbox, "a", "b");
    link(&sandbox, "a/faulty.onnxtxt", "c.onnxtxt");
    assert_eq!(files(&sandbox.lint(&["--output-format", "json"])), ["a/faulty.onnxtxt"]);
}

#[test]
fn links_that_cannot_be_followed_are_reported_and_skipped() {
    let sandbox = Sandbox::new(&[("a/sound.onnxtxt", SOUND)]);
    link(&sandbox, "../a", "a/back");
    link(&sandbox, "nowhere", "a/gone.onnx");
    link(&sandbox, "nowhere", "a/gone.bin");
    link(&sandbox, "/dev/null", "a/device.onnx");
    let ran = sandbox.lint(&["a"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("note: a/back: skipped: it leads back to a"), "{ran:?}");
    assert!(ran.stderr.contains("note: a/gone.onnx: skipped: "), "{ran:?}");
    assert!(ran.stderr.contains("note: a/device.onnx: skipped: it is a device or a pipe"), "{ran:?}");
    assert!(!ran.stderr.contains("gone.bin"), "{ran:?}");
}
