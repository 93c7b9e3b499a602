//! Public names of PyTorch.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

/// Modules of PyTorch, one a line: the path and the public names.
///
/// The script `generate` writes `names.txt`.
const NAMES: &str = include_str!("names.txt");

static MODULES: LazyLock<FxHashMap<&str, FxHashSet<&str>>> = LazyLock::new(|| {
    let lines = NAMES.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(path, names)| (path, names.split(' ').collect())).collect()
});

/// Modules that extensions of PyTorch add to `torch`.
const EXTENSIONS: [&str; 8] = ["npu", "mlu", "hpu", "musa", "gcu", "ipex", "sdaa", "xla"];

/// Returns true if a module of PyTorch certainly has no attribute `name`.
pub fn is_missing(path: &str, name: &str) -> bool {
    MODULES.get(path).is_some_and(|names| !names.contains(name))
        && !name.starts_with('_')
        && !EXTENSIONS.contains(&name)
}

/// Returns true if tensors have, or may have, an attribute or method `name`.
pub fn is_tensor_name(name: &str) -> bool {
    MODULES["torch.Tensor"].contains(name) || name.starts_with('_')
}

/// Returns the expression that was probably meant by a missing name.
pub fn similar(path: &str, name: &str) -> Option<String> {
    let names = MODULES.get(path)?;
    let base = name.trim_end_matches('_');
    if base != name && path == "torch" {
        if names.contains(base) && MODULES["torch.Tensor"].contains(name) {
            return Some(format!("torch.{base}(x, …)` or `x.{name}(…)"));
        }
        if MODULES["torch.Tensor"].contains(name) {
            return Some(format!("x.{name}(…)"));
        }
    }
    let lower = name.to_lowercase();
    let mut same: Vec<&&str> = names.iter().filter(|other| other.to_lowercase() == lower).collect();
    same.sort_unstable();
    if let Some(other) = same.first() {
        return Some(format!("{path}.{other}"));
    }
    let elsewhere = ["torch", "torch.nn.functional", "torch.nn"].into_iter();
    let elsewhere = elsewhere.filter(|other| *other != path && MODULES[other].contains(name));
    if let Some(other) = elsewhere.map(|other| format!("{other}.{name}")).next() {
        return Some(other);
    }
    MODULES["torch.Tensor"].contains(name).then(|| format!("x.{name}(…)"))
}
