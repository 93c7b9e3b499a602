//! Kernels of ONNX Runtime, which conversions prefer.

use std::sync::{Arc, LazyLock};

use super::options::Options;
use crate::targets::{Profile, Targets};

/// Returns the profiles of runtimes whose unsupported nodes the rewrite of a graph avoids.
///
/// These are the target runtimes. A conversion without a target runtime prefers operators that ONNX Runtime supports:
/// several equivalent forms are legal at an opset, but some have no kernel.
pub fn profiles(options: &Options, converts: bool) -> Vec<Arc<Profile>> {
    if converts { preferred(options) } else { options.targets.clone() }
}

/// Returns the profiles of runtimes that must support the nodes that rules add.
///
/// These are the target runtimes, or else ONNX Runtime.
pub fn preferred(options: &Options) -> Vec<Arc<Profile>> {
    static NEWEST: LazyLock<Option<Arc<Profile>>> =
        LazyLock::new(|| Targets::default().find("onnxruntime").ok());
    if options.targets.is_empty() { NEWEST.iter().cloned().collect() } else { options.targets.clone() }
}
