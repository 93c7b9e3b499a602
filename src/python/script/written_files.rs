//! Files that calls may write: what the interpreter knows about a file ends there.

use super::super::notebook::SHELL;
use super::super::syntax::{field, text};
use super::calls::Args;
use super::library::is_builtin;
use super::machine::Machine;
use super::model_file::file_key;
use super::torch::names::is_tensor_name;
use super::value::Value;

/// Functions, by the start of their paths, that do not write the files whose paths they get.
const READERS: [&str; 59] = [
    "torch.",
    "torchvision.",
    "timm.create_model",
    "transformers.Auto",
    "onnx.load",
    "onnx.checker.",
    "onnx.helper.",
    "onnx.numpy_helper.",
    "onnx.shape_inference.infer_shapes",
    "onnx.version_converter.",
    "onnx.printer.",
    "onnxsim.simplify",
    "onnxruntime.InferenceSession",
    "onnxruntime.SessionOptions",
    "onnxruntime.get_",
    "onnxruntime.set_",
    "onnxruntime.OrtValue",
    "numpy.",
    "os.path.",
    "os.fspath",
    "os.makedirs",
    "os.mkdir",
    "os.stat",
    "os.getenv",
    "os.environ",
    "os.getcwd",
    "os.listdir",
    "glob.",
    "tempfile.",
    "pathlib.",
    "logging.",
    "warnings.",
    "time.",
    "datetime.",
    "math.",
    "random.",
    "re.",
    "sys.",
    "gc.",
    "copy.",
    "types.",
    "typing.",
    "collections.",
    "itertools.",
    "dataclasses.",
    "contextlib.",
    "inspect.",
    "platform.",
    "hashlib.",
    "argparse.",
    "json.",
    "yaml.safe_load",
    "yaml.full_load",
    "yaml.load",
    "omegaconf.OmegaConf.create",
    "easydict.",
    "scipy.signal.",
    "tqdm.",
    "PIL.",
];

/// Functions that write only the files whose paths they get.
const WRITERS: [&str; 15] = [
    "open",
    "save",
    "save_model",
    "dump",
    "copy",
    "copyfile",
    "copy2",
    "move",
    "rename",
    "replace",
    "remove",
    "unlink",
    "quantize_dynamic",
    "convert_float_to_float16",
    "infer_shapes_path",
];

/// Methods of paths that write the file.
const PATH_WRITERS: [&str; 9] = [
    "rename",
    "write_bytes",
    "write_text",
    "unlink",
    "touch",
    "symlink_to",
    "hardlink_to",
    "link_to",
    "open",
];

/// Methods that write no file, besides those of tensors.
const HARMLESS: [&str; 34] = [
    "info",
    "debug",
    "warning",
    "error",
    "exception",
    "critical",
    "log",
    "append",
    "extend",
    "items",
    "keys",
    "values",
    "get",
    "join",
    "strip",
    "split",
    "format",
    "startswith",
    "endswith",
    "lower",
    "upper",
    "exists",
    "is_file",
    "with_suffix",
    "eval",
    "train",
    "parameters",
    "get_inputs",
    "get_outputs",
    "get_providers",
    "SerializeToString",
    "ByteSize",
    "astype",
    "run",
];

impl<'t> Machine<'t> {
    /// Forgets the contents of files that a library function may write.
    pub fn note_files(&mut self, path: &str, args: &Args<'t>) {
        let is_caller = matches!(path, "open" | "map" | "filter" | "exec" | "eval");
        let reads = is_builtin(path) && !is_caller || READERS.iter().any(|reader| path.starts_with(reader));
        if !reads {
            self.forget_files_of(path.rsplit('.').next().unwrap_or(path), args);
        }
    }

    /// Forgets the contents of files that a method of a path may write.
    pub fn note_path_method(&mut self, path: &str, name: &str, args: &Args<'t>) {
        let is_path_replace = name == "replace" && args.positional.len() + args.keywords.len() == 1;
        if PATH_WRITERS.contains(&name) || is_path_replace {
            let path = file_key(path);
            self.saved.remove(&path);
            self.models.remove(&path);
            self.forget_files_of("rename", args);
        }
    }

    /// Forgets the contents of the files that an unknown function may write.
    pub fn forget_files(&mut self, args: &Args<'t>) {
        let source = self.source(self.file());
        let callee = field(args.node, "function");
        let name = callee.map(|callee| text(field(callee, "attribute").unwrap_or(callee), source));
        let is_method = callee.is_some_and(|callee| callee.kind() == "attribute");
        // `rename` is a method of tensors and of paths.
        let is_of_tensor = |name: &str| is_tensor_name(name) && name != "rename" && !name.starts_with('_');
        match name {
            Some(name) if is_method && (HARMLESS.contains(&name) || is_of_tensor(name)) => {}
            Some(name) => self.forget_files_of(name, args),
            None => {}
        }
    }

    /// Forgets the files whose paths a function gets or, if it may write others, all files.
    fn forget_files_of(&mut self, name: &str, args: &Args<'t>) {
        for value in args.all() {
            if let Value::Str(path) = value {
                let path = file_key(path);
                self.saved.remove(&path);
                self.models.remove(&path);
            }
        }
        // In `onnx.save(model, path)`, the first argument is no path.
        let takes_object = matches!(name, "save" | "save_model" | "dump") && args.positional.len() > 1;
        let mut others = args.all().skip(usize::from(takes_object));
        // A path without an extension may be a folder.
        let is_file = |value: &Value| match value {
            Value::Unknown | Value::Name(_) => false,
            Value::Str(path) => path.contains('.') || name == "open" && path.len() <= 3,
            _ => true,
        };
        let is_known = WRITERS.contains(&name) && !args.open && others.all(is_file);
        if !is_known {
            self.models.clear();
            self.saved.clear();
        }
    }

    /// Returns true if a notebook runs commands that may write any file.
    pub fn has_file_commands(&self) -> bool {
        self.files.iter().any(|file| file.text.contains(SHELL))
    }
}
