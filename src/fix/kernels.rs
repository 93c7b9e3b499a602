//! Kernels of ONNX Runtime, which conversions prefer.

use std::sync::{Arc, LazyLock};

use super::options::Options;
use crate::targets::{Profile, Targets};

/// Returns the profiles of the target runtimes; in a conversion without any, that of ONNX Runtime.
///
/// A conversion without a target runtime prefers operators that ONNX Runtime supports: several equivalent nodes
/// are legal at an opset, but some have no kernel.
pub fn profiles(options: &Options, converts: bool) -> Vec<Arc<Profile>> {
    if converts && options.targets.is_empty() { onnxruntime() } else { options.targets.clone() }
}

/// Returns the profile of the newest ONNX Runtime.
pub fn onnxruntime() -> Vec<Arc<Profile>> {
    static NEWEST: LazyLock<Option<Arc<Profile>>> =
        LazyLock::new(|| Targets::default().find("onnxruntime").ok());
    NEWEST.iter().cloned().collect()
}
