//! The commands of README.md whose output stands there print just that, and so do those of the documents.

use std::path::Path;

use crate::tool::{Sandbox, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The commands that a built checkout can run, with what is shown below each.
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
fn commands_print_what_is_shown() {
    let readme = std::fs::read_to_string(format!("{ROOT}/README.md")).expect("it is there");
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

/// A comment that begins so says that a command ends with 1.
const REFUSES: &str = "refuses";

/// The commands of a document, each with what is shown below it.
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

/// Each document in a folder of its own, with what the recipes bring.
#[test]
fn commands_of_the_documents_do_what_is_said() {
    let mut documents = vec!["docs/formats.md".to_owned(), "docs/integrations.md".to_owned()];
    let recipes = std::fs::read_dir(format!("{ROOT}/docs/recipes")).expect("a folder");
    let recipes: Vec<String> =
        recipes.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    let is_document = |name: &&String| name.ends_with(".md");
    documents.extend(recipes.iter().filter(is_document).map(|name| format!("docs/recipes/{name}")));
    let has_runtime = std::env::var_os("ORT_DYLIB_PATH").is_some();
    let mut count = 0;
    for document in documents {
        let text = std::fs::read_to_string(format!("{ROOT}/{document}")).expect("it is there");
        let sandbox = Sandbox::new(&[]);
        for name in recipes.iter().filter(|name| !is_document(name)) {
            sandbox.bring(&format!("docs/recipes/{name}"), name);
        }
        for (command, output) in commands(&text) {
            let (call, comment) = command.split_once(" # ").unwrap_or((command, ""));
            let words: Vec<&str> = call.split_whitespace().collect();
            let words: Vec<&str> =
                words.into_iter().filter(|word| has_runtime || *word != "--verify").collect();
            let ran = match words[0] {
                "onnx-lint" => sandbox.lint(&words[1..]),
                "onnx-fix" => sandbox.fix(&words[1..]),
                "onnx-diff" => sandbox.diff(&words[1..]),
                other => panic!("{document}: {other}"),
            };
            let fails =
                comment.starts_with(REFUSES) || output.contains("error[") || output.contains("warning[");
            assert_eq!(ran.status, i32::from(fails), "{document}: {command}: {ran:?}");
            assert!(output.is_empty() || ran.stdout == output, "{document}: {command}: {ran:?}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
