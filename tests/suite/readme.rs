//! Tests that the commands in README.md and in the documents run, and print the output shown there.

use std::path::Path;

use crate::cli_precision::npz;
use crate::tool::{Ran, SOUND, Sandbox, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the commands that a checkout can run, each with the shown output.
fn shown(readme: &str) -> Vec<(Vec<&str>, String)> {
    let blocks = readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands = blocks.filter_map(|block| {
        let (command, output) = block.split_once('\n')?;
        let command = command.strip_prefix("$ cargo run --release --bin ")?;
        Some((command.split_whitespace().filter(|word| *word != "--").collect(), output.to_owned()))
    });
    commands.collect()
}

#[test]
fn readme_commands_print_the_shown_output() {
    let readme = std::fs::read_to_string(format!("{ROOT}/README.md")).expect("the file exists");
    let shown = shown(&readme);
    assert_eq!(shown.len(), 3);
    for (command, expected) in shown {
        let tool = match command[0] {
            "onnx-lint" => env!("CARGO_BIN_EXE_onnx-lint"),
            "onnx-diff" => env!("CARGO_BIN_EXE_onnx-diff"),
            _ => env!("CARGO_BIN_EXE_onnx-fix"),
        };
        let ran = run(tool, Path::new(ROOT), &command[1..], &[], "");
        assert_eq!(ran.stdout, expected, "{command:?}");
    }
}

/// Start of the comment after a command that exits with status 1.
const REFUSES: &str = "refuses";

/// Returns the commands of a document, each with the shown output.
fn commands(text: &str) -> Vec<(&str, String)> {
    let blocks = text.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut commands = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, String::new())),
            (None, Some((_, output))) => *output += &format!("{line}\n"),
            (None, None) => panic!("output without a command: {line}"),
        }
    }
    commands
}

/// Runs a command in a folder; also returns its comment.
/// Leaves out `--verify` if ONNX Runtime is not installed.
fn called<'c>(sandbox: &Sandbox, command: &'c str) -> (Ran, &'c str) {
    let (call, comment) = command.split_once(" # ").unwrap_or((command, ""));
    let has_runtime = std::env::var_os("ORT_DYLIB_PATH").is_some();
    let words = call.split_whitespace().filter(|word| has_runtime || *word != "--verify");
    let words: Vec<&str> = words.collect();
    let ran = match words[0] {
        "onnx-lint" => sandbox.lint(&words[1..]),
        "onnx-fix" => sandbox.fix(&words[1..]),
        "onnx-diff" => sandbox.diff(&words[1..]),
        other => panic!("{other}: {command}"),
    };
    (ran, comment)
}

/// A model that can be simplified and converted to 16 bits.
const NET: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
    main (float[batch,4] x) => (float[batch,4] y) <float half = {0.5}> {\n  t = Transpose <perm = [1, 0]> (x)\n  \
    u = Transpose <perm = [1, 0]> (t)\n  s = Mul (u, half)\n  y = Relu (s)\n}\n";

/// Runs the commands of the tools, except the server, in a folder with the files that they name.
#[test]
fn readme_commands_run() {
    let readme = std::fs::read_to_string(format!("{ROOT}/README.md")).expect("the file exists");
    let sandbox = Sandbox::new(&[("net.onnxtxt", NET), ("models/sound.onnxtxt", SOUND), ("export.log", "")]);
    for name in ["model.onnx", "a.onnx", "b.onnx"] {
        assert_eq!(sandbox.fix(&["net.onnxtxt", "--no-optimize", "-o", name]).status, 0);
    }
    sandbox.bring("tests/models/programs/buffers.pt2", "program.pt2");
    sandbox.bring("tests/models/traced/conv.torchir.txt", "traced.torchir.txt");
    sandbox.bring("tests/models/traced/conv.pth", "net.pth");
    sandbox.bring("tests/models/archives/convolution.pt", "traced.pt");
    sandbox.write("data.npz", npz("x", "1, 4", &[1.0, -3.0, 0.5, 2.0]));
    let is_used = |(command, _): &(&str, String)| {
        command.starts_with("onnx-") && !command.starts_with("onnx-lint server")
    };
    let commands: Vec<_> = commands(&readme).into_iter().filter(is_used).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for (command, _) in commands {
        let (ran, _) = called(&sandbox, command);
        assert_eq!(ran.status, 0, "{command}: {ran:?}");
    }
}

/// Runs the commands of each document in a separate folder, with the files of the recipes.
#[test]
fn commands_in_documents_have_the_shown_results() {
    let mut documents =
        ["docs/formats.md", "docs/integrations.md", "docs/suppressions.md"].map(str::to_owned).to_vec();
    let recipes = std::fs::read_dir(format!("{ROOT}/docs/recipes")).expect("a folder");
    let recipes: Vec<String> =
        recipes.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    let is_document = |name: &&String| name.ends_with(".md");
    documents.extend(recipes.iter().filter(is_document).map(|name| format!("docs/recipes/{name}")));
    let mut count = 0;
    for document in documents {
        let text = std::fs::read_to_string(format!("{ROOT}/{document}")).expect("the file exists");
        let sandbox = Sandbox::new(&[]);
        for name in recipes.iter().filter(|name| !is_document(name)) {
            sandbox.bring(&format!("docs/recipes/{name}"), name);
        }
        for (command, output) in commands(&text) {
            let (ran, comment) = called(&sandbox, command);
            let fails =
                comment.starts_with(REFUSES) || output.contains("error[") || output.contains("warning[");
            assert_eq!(ran.status, i32::from(fails), "{document}: {command}: {ran:?}");
            assert!(output.is_empty() || ran.stdout == output, "{document}: {command}: {ran:?}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
