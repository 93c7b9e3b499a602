//! Models in the folder `tests`.

use std::path::{Path, PathBuf};

/// Returns all `.onnx` files below `tests/`, sorted.
pub fn all() -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut found);
    found.sort();
    assert!(!found.is_empty(), "there are no models below tests/");
    found
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "onnx") {
            found.push(path);
        }
    }
}

/// Returns the content of a file.
pub fn bytes(path: &Path) -> bytes::Bytes {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).into()
}
