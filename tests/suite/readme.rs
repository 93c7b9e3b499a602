//! The commands of README.md whose output stands there print just that.

use std::path::Path;

use crate::tool::run;

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
