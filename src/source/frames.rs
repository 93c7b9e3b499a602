//! Parser of the Python stacks that exporters record.

/// Frame of a recorded Python stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Path on the machine that ran the export.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Name of the function, or `<module>`; empty if it is not recorded.
    pub function: String,
    /// Line of code without indentation, if recorded.
    pub code: Option<String>,
}

/// Returns the frames of a recorded stack, innermost first.
///
/// Parses two formats of stacks, and skips lines that are in neither format. If a stack has both formats,
/// returns only the frames of tracebacks.
///
/// - A Python traceback, outermost frame first, with the code on the next line: `File "net.py", line 11, in forward`.
///   The metadata `pkg.torch.onnx.stack_trace`, and `stack_trace` of a `.pt2`, have this format.
/// - The `doc_string` of the TorchScript exporter, innermost frame first, without code: `net.py(11): forward`.
pub fn frames(stack: &str) -> Vec<Frame> {
    let mut traceback: Vec<Frame> = Vec::new();
    let mut doc_string = Vec::new();
    for line in stack.lines() {
        let text = line.trim();
        if let Some(frame) = traceback_frame(text) {
            traceback.push(frame);
        } else if let Some(frame) = doc_string_frame(text) {
            doc_string.push(frame);
        } else if let Some(frame) = traceback.last_mut()
            && frame.code.is_none()
            && is_code(text)
        {
            frame.code = Some(text.to_owned());
        }
    }
    if traceback.is_empty() {
        return doc_string;
    }
    traceback.reverse();
    traceback
}

/// Returns the innermost frame whose file is not part of a library, as [`is_library`] decides.
pub fn user_frame(stack: &str) -> Option<Frame> {
    frames(stack).into_iter().find(|frame| !is_library(&frame.file))
}

/// Parses `File "net.py", line 11, in forward`.
fn traceback_frame(text: &str) -> Option<Frame> {
    let rest = text.strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (line, function) = rest.split_once(',').unwrap_or((rest, ""));
    let function = function.trim().strip_prefix("in ").unwrap_or("");
    Some(Frame { file: file.into(), line: line.trim().parse().ok()?, function: function.into(), code: None })
}

/// Parses `net.py(11): forward`.
fn doc_string_frame(text: &str) -> Option<Frame> {
    let (place, function) = text.rsplit_once("): ")?;
    let (file, line) = place.rsplit_once('(')?;
    if file.is_empty() {
        return None;
    }
    Some(Frame { file: file.into(), line: line.parse().ok()?, function: function.into(), code: None })
}

/// Whether a line is code, and not the carets that Python 3.11 and later print below it.
fn is_code(text: &str) -> bool {
    !text.is_empty() && !text.bytes().all(|byte| matches!(byte, b'^' | b'~' | b' '))
}

/// Whether `file` belongs to PyTorch, ONNX Script, NumPy or the standard library, or was generated.
///
/// Other packages (torchvision, transformers) count as user code, because their lines explain the graph.
pub fn is_library(file: &str) -> bool {
    let path = file.replace('\\', "/");
    if let Some(generated) = path.strip_prefix('<') {
        return ["frozen", "eval_with_key", "string", "torch"].iter().any(|kind| generated.starts_with(kind));
    }
    let parts: Vec<&str> = path.split('/').collect();
    parts.windows(2).any(|pair| match pair {
        ["site-packages" | "dist-packages", package] => TORCH_PACKAGES.contains(package),
        ["torch", inner] => TORCH_PARTS.contains(inner),
        [python, inner] => {
            is_versioned_python(python) && !matches!(*inner, "site-packages" | "dist-packages")
        }
        _ => false,
    })
}

/// Whether `file` belongs to an installed or downloaded package, which users do not edit.
pub fn is_installed(file: &str) -> bool {
    file.split(['/', '\\']).any(|part| PACKAGE_FOLDERS.contains(&part))
}

/// Package directories: of pip and conda, of Debian, and of remote code from the Hugging Face Hub.
const PACKAGE_FOLDERS: [&str; 3] = ["site-packages", "dist-packages", "transformers_modules"];

/// Whether a path component is the directory of the standard library: `python3.11`.
fn is_versioned_python(part: &str) -> bool {
    part.strip_prefix("python3.").is_some_and(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Installed packages that are never user code.
const TORCH_PACKAGES: [&str; 6] = ["torch", "onnxscript", "onnx_ir", "functorch", "torchgen", "numpy"];

/// Entries of the `torch` directory in a source checkout, which has no `site-packages` above it.
const TORCH_PARTS: [&str; 22] = [
    "_dynamo",
    "_decomp",
    "_export",
    "_functorch",
    "_higher_order_ops",
    "_jit_internal.py",
    "_library",
    "_ops.py",
    "_prims",
    "_refs",
    "_subclasses",
    "_tensor.py",
    "autograd",
    "export",
    "functional.py",
    "fx",
    "jit",
    "nn",
    "onnx",
    "overrides.py",
    "special",
    "utils",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stack: &str, expected: Option<(&str, u32, &str, Option<&str>)>) {
        let frame = user_frame(stack);
        let seen = frame.as_ref().map(|f| (&*f.file, f.line, &*f.function, f.code.as_deref()));
        assert_eq!(seen, expected, "{stack}");
    }

    #[test]
    fn traceback_yields_the_last_user_frame() {
        check(
            "File \"/app/net.py\", line 11, in forward\n    return self.block(x)\n  \
             File \"/app/block.py\", line 8, in forward\n    return F.relu(x)\n           ^^^^^^^^^\n  \
             File \"/venv/lib/python3.12/site-packages/torch/nn/functional.py\", line 9, in relu\n    r(x)",
            Some(("/app/block.py", 8, "forward", Some("return F.relu(x)"))),
        );
    }

    #[test]
    fn doc_string_yields_the_first_user_frame() {
        check(
            "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py(134): forward\n\
             /venv/lib/python3.11/site-packages/torch/nn/modules/module.py(1777): _slow_forward\n\
             /app/old (copy)/net.py(60): forward\n/app/net.py(9): main\n",
            Some(("/app/old (copy)/net.py", 60, "forward", None)),
        );
    }

    #[test]
    fn third_party_packages_count_as_user_code() {
        check(
            "File \"/venv/lib/python3.11/site-packages/transformers/models/bert/modeling_bert.py\", line 3, in f",
            Some((
                "/venv/lib/python3.11/site-packages/transformers/models/bert/modeling_bert.py",
                3,
                "f",
                None,
            )),
        );
        check("File \"C:\\venv\\Lib\\site-packages\\torch\\nn\\functional.py\", line 3, in f", None);
        check("File \"/src/pytorch/torch/nn/modules/rnn.py\", line 3, in f", None);
        check("File \"/usr/lib/python3.11/contextlib.py\", line 81, in inner", None);
        check("File \"<eval_with_key>.3\", line 3, in forward", None);
        check(
            "File \"<ipython-input-3>\", line 3, in forward",
            Some(("<ipython-input-3>", 3, "forward", None)),
        );
    }

    #[test]
    fn malformed_stacks_have_no_frames() {
        for stack in ["", "\n\n", "(3): f", "File \"", "File \"a.py\", line x, in f", "a.py(): f"] {
            check(stack, None);
        }
    }
}
