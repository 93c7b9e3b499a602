//! Finds the ONNX Runtime library: at `ORT_DYLIB_PATH`, else inside Python's `onnxruntime` package.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

use crate::cli::Failure;

/// Python script that prints the paths of libraries in the `onnxruntime` package.
const LOCATE: &str = r#"
import importlib.util, pathlib
spec = importlib.util.find_spec("onnxruntime")
if spec and spec.origin:
    capi = pathlib.Path(spec.origin).parent / "capi"
    for pattern in ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll"):
        for library in sorted(capi.glob(pattern)):
            print(library)
"#;

/// Loads ONNX Runtime once; all sessions of the process share the environment.
pub fn load() -> Result<Environment, Failure> {
    static LOADED: Mutex<Option<Environment>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*loaded {
        Some(environment) => Ok(environment.clone()),
        None => Ok(loaded.insert(load_first()?).clone()),
    }
}

fn load_first() -> Result<Environment, Failure> {
    let path = find().ok_or_else(|| {
        Failure::new(
            "--verify: ONNX Runtime was not found; run `pip install onnxruntime`, or set ORT_DYLIB_PATH to its library",
        )
    })?;
    let failed = |error: String| Failure::at(&path, format!("cannot be loaded as ONNX Runtime: {error}"));
    let builder = ort::init_from(&path).map_err(|error| failed(error.to_string()))?;
    // Errors are returned as values, so the log of the runtime would only repeat them.
    let environment = builder.with_logger(std::sync::Arc::new(|_, _, _, _, _| {})).build();
    environment.map_err(|error| failed(error.to_string()))
}

fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let active = active.iter().flat_map(|venv| [venv.join("bin/python"), venv.join("Scripts/python.exe")]);
    active.chain(["python3".into(), "python".into()]).find_map(|python| {
        let output = Command::new(python).args(["-c", LOCATE]).output().ok()?;
        let first = String::from_utf8(output.stdout).ok()?.lines().next()?.to_owned();
        Some(PathBuf::from(first))
    })
}
