//! Runs the tools as a user does: as processes, in a folder of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary folder with files, in which the tools run.
pub struct Sandbox(TempDir);

/// What one process did.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A sound model in ONNX text; `Relu` has nothing to mend.
pub const SOUND: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  y = Relu (x)\n}\n";

/// A node that makes a value which nothing defines.
pub const FAULTY: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  y = Add (x, ghost)\n}\n";

/// Two transposes that cancel out.
pub const CLUMSY: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[N,4] x) => (float[N,4] y) {\n  t = Transpose <perm = [1, 0]> (x)\n  \
    u = Transpose <perm = [1, 0]> (t)\n  y = Relu (u)\n}\n";

/// The names of the pitfalls of which there is a model for each opset.
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
    pub fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox(tempfile::tempdir().expect("a temporary folder"));
        for (name, text) in files {
            sandbox.write(name, text);
        }
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the sandbox")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// A file of the repository's own, at another name.
    pub fn bring(&self, from: &str, to: &str) {
        let path = format!("{}/{from}", env!("CARGO_MANIFEST_DIR"));
        self.write(to, std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")));
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of the files in the folder itself, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// A checkout of a repository: models as the exporter wrote them at an opset, and their Python.
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

    pub fn lint(&self, arguments: &[&str]) -> Ran {
        self.lint_stdin(arguments, "")
    }

    pub fn lint_with(&self, arguments: &[&str], environment: &[(&str, &OsStr)]) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-lint"), self.0.path(), arguments, environment, "")
    }

    pub fn lint_stdin(&self, arguments: &[&str], stdin: &str) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-lint"), self.0.path(), arguments, &[], stdin)
    }

    pub fn diff(&self, arguments: &[&str]) -> Ran {
        self.diff_with(arguments, &[])
    }

    pub fn diff_with(&self, arguments: &[&str], environment: &[(&str, &OsStr)]) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-diff"), self.0.path(), arguments, environment, "")
    }

    pub fn fix(&self, arguments: &[&str]) -> Ran {
        self.fix_with(arguments, &[])
    }

    pub fn fix_with(&self, arguments: &[&str], environment: &[(&str, &OsStr)]) -> Ran {
        run(env!("CARGO_BIN_EXE_onnx-fix"), self.0.path(), arguments, environment, "")
    }
}

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
    std::io::Write::write_all(&mut child.stdin.take().expect("it is piped"), stdin.as_bytes()).ok();
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("the tools write UTF-8");
    let status = output.status.code().expect("it was not killed");
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
