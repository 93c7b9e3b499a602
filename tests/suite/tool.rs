//! Runs the tools as processes, in a temporary folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder with files, in which the tools run.
pub struct Sandbox(TempDir);

/// Result of a process.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Checks the exit status and a part of standard error.
#[track_caller]
pub fn check(ran: &Ran, status: i32, expected: &str) {
    assert_eq!(ran.status, status, "{ran:?}");
    assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
}

/// A valid model in ONNX text, without findings.
pub const SOUND: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  y = Relu (x)\n}\n";

/// A model with a node that reads an undefined value.
pub const FAULTY: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  y = Add (x, ghost)\n}\n";

/// A model with two Transposes that cancel.
pub const CLUMSY: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  t = Transpose <perm = [1, 0]> (x)\n  \
    u = Transpose <perm = [1, 0]> (t)\n  y = Relu (u)\n}\n";

/// Names of pitfalls with a model for each opset.
pub const PITFALLS: [&str; 12] = [
    "BakedBatch",
    "ConstantOutput",
    "DataDependentBranch",
    "DoubleConstant",
    "InPlaceShape",
    "IndexPutBroadcast",
    "ItemInReshape",
    "NegativeIndexRead",
    "NumpyConstant",
    "OneHotInferredClasses",
    "TrainingMode",
    "UnrolledLoop",
];

impl Sandbox {
    /// Creates a sandbox with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox(tempfile::tempdir().expect("a temporary folder"));
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox
    }

    /// Returns the path of a file in the sandbox.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and creates its directory.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a path in the sandbox")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// Copies a file of the repository into the sandbox, as `to`.
    pub fn bring(&self, from: &str, to: &str) {
        let path = format!("{}/{from}", env!("CARGO_MANIFEST_DIR"));
        self.write(to, std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")));
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names of the files directly in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Creates a checkout of a repository: exported models at an opset, and optionally their source.
    pub fn checkout(opset: u32, with_source: bool) -> Self {
        let sandbox = Sandbox::new(&[(".git/HEAD", "ref: refs/heads/main\n")]);
        for name in PITFALLS {
            let model = format!("tests/pitfalls/exported/{name}.ts{opset}.onnx");
            sandbox.bring(&model, &format!("models/{name}.onnx"));
        }
        if with_source {
            sandbox.bring("tests/pitfalls/pitfalls.py", "src/pitfalls.py");
        }
        sandbox
    }

    /// Runs `onnx-lint`.
    pub fn lint(&self, arguments: &[&str]) -> Ran {
        self.lint_stdin(arguments, "")
    }

    /// Runs `onnx-lint` with additional environment variables.
    pub fn lint_with(&self, arguments: &[&str], environment: &[(&str, &OsStr)]) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-lint"), self.0.path(), arguments, environment, "")
    }

    /// Runs `onnx-lint` with standard input.
    pub fn lint_stdin(&self, arguments: &[&str], stdin: &str) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-lint"), self.0.path(), arguments, &[], stdin)
    }

    /// Runs `onnx-diff`.
    pub fn diff(&self, arguments: &[&str]) -> Ran {
        self.diff_with(arguments, &[])
    }

    /// Runs `onnx-diff` with additional environment variables.
    pub fn diff_with(&self, arguments: &[&str], environment: &[(&str, &OsStr)]) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-diff"), self.0.path(), arguments, environment, "")
    }

    /// Runs `onnx-fix`.
    pub fn fix(&self, arguments: &[&str]) -> Ran {
        self.fix_with(arguments, &[])
    }

    /// Runs `onnx-fix` with additional environment variables.
    pub fn fix_with(&self, arguments: &[&str], environment: &[(&str, &OsStr)]) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-fix"), self.0.path(), arguments, environment, "")
    }
}

/// Runs a tool in a folder.
pub fn run(
    tool: &str,
    folder: &Path,
    arguments: &[&str],
    environment: &[(&str, &OsStr)],
    stdin: &str,
) -> Ran {
    let mut child = Command::new(tool)
        .args(arguments)
        .current_dir(folder)
        .env_remove("ONNX_LINT_OUTPUT_FORMAT")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool was built");
    std::io::Write::write_all(&mut child.stdin.take().expect("the stream is piped"), stdin.as_bytes()).ok();
    let output = child.wait_with_output().expect("the process ends");
    let text = |bytes| String::from_utf8(bytes).expect("the tools write UTF-8");
    let status = output.status.code().expect("the process was not killed");
    Ran { status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Asserts a snapshot in `snapshots/FOLDER/NAME.snap`.
pub fn snapshot(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{}/snapshots/{folder}", env!("CARGO_MANIFEST_DIR")));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
