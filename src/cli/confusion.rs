//! Errors about options of another tool, with the command to run instead.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// For a tool: options that it does not have, and the help for users who try them.
const CONFUSIONS: &[(&str, &[&str], &str)] = &[
    (
        "onnx-lint",
        &["--fix", "--fix-only", "--unsafe-fixes", "--in-place", "--no-optimize"],
        "onnx-lint only reports; to fix the model, run `onnx-fix MODEL -o OUT`, or `onnx-fix MODEL --in-place` to \
         replace the file",
    ),
    (
        "onnx-lint",
        &["--diff"],
        "onnx-lint only reports; to show what would change, run `onnx-fix MODEL --diff`",
    ),
    (
        "onnx-lint",
        &["--check"],
        "onnx-lint always checks; to test whether onnx-fix would change the model, run `onnx-fix MODEL --check`",
    ),
    (
        "onnx-fix",
        &["--fix", "--fix-only"],
        "onnx-fix always fixes; run `onnx-fix MODEL -o OUT`, or `onnx-fix MODEL --in-place` to replace the file",
    ),
    (
        "onnx-fix",
        &["--lint", "--severity", "--statistics", "--output-format", "--baseline"],
        "onnx-fix does not list the findings of a model; run `onnx-lint MODEL`",
    ),
    ("onnx-fix", &["--list-rules"], "run `onnx-lint --list-rules`"),
    ("onnx-fix", &["--list-targets"], "run `onnx-lint --list-targets`"),
    ("onnx-fix", &["--explain"], "run `onnx-lint --explain RULE`"),
];

/// Returns the message for an error about an option in [`CONFUSIONS`]; `None` for any other error.
pub fn message(tool: &str, error: &clap::Error, args: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_confusion =
        |(of, options, _): &&(&str, &[&str], &str)| *of == tool && options.contains(&&**option);
    let (_, _, help) =
        CONFUSIONS.iter().find(is_confusion).filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let model = args.iter().skip(1).find(|arg| Path::new(arg).is_file());
    let help = match model {
        Some(model) => help.replace("MODEL", &model.to_string_lossy()),
        None => (*help).to_owned(),
    };
    Some(format!("{tool} has no option `{option}`\n  = help: {help}"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::{diff, fix, lint};

    fn told<A: Parser>(tool: &str, arguments: &[&str]) -> Option<String> {
        let args: Vec<OsString> = std::iter::once(&tool).chain(arguments).map(OsString::from).collect();
        message(tool, &A::try_parse_from(&args).err()?, &args)
    }

    #[test]
    fn unknown_options_of_another_tool_name_the_command_to_run() {
        let lint = told::<lint::args::Args>("onnx-lint", &["--fix", "Cargo.toml"]).unwrap_or_default();
        assert!(lint.contains("run `onnx-fix Cargo.toml -o OUT`"), "{lint}");
        let fix = told::<fix::args::Args>("onnx-fix", &["x.onnx", "--lint"]).unwrap_or_default();
        assert!(fix.contains("run `onnx-lint MODEL`"), "{fix}");
        assert_eq!(told::<lint::args::Args>("onnx-lint", &["--nonsense"]), None);
        assert_eq!(told::<diff::args::Args>("onnx-diff", &["--fix", "a", "b"]), None);
    }

    #[test]
    fn confused_options_are_not_options_of_the_tool() {
        for (tool, options, _) in CONFUSIONS {
            let command = match *tool {
                "onnx-lint" => lint::args::Args::command(),
                _ => fix::args::Args::command(),
            };
            let is_known = |option: &&&str| {
                command.get_arguments().any(|arg| arg.get_long().is_some_and(|long| option[2..] == *long))
            };
            assert_eq!(options.iter().find(is_known), None, "{tool}");
        }
    }
}
