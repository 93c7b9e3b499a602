//! Output to the standard streams and to files.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use clap::{Args, ValueEnum};

use super::Failure;
use crate::diag::reason;
use crate::diag::render::Look;
use crate::write::file::replace;

/// Writes `text` to standard output. A closed pipe (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes `bytes` to standard output. A closed pipe is no error.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: cannot be written: {}", reason(&error))))
        }
        _ => Ok(()),
    }
}

/// Writes `text` to standard error. A closed stream is no error: the exit status is the result.
pub fn warn(text: &str) {
    drop(io::stderr().write_all(text.as_bytes()));
}

/// Writes `text` to `file`, or to standard output if `file` is `None` or `-`.
pub fn write(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    write_bytes(text.as_bytes(), file)
}

/// Writes `bytes` to `file`, or to standard output if `file` is `None` or `-`.
pub fn write_bytes(bytes: &[u8], file: Option<&Path>) -> Result<(), Failure> {
    match file.filter(|path| *path != Path::new("-")) {
        None => print_bytes(bytes),
        Some(path) => {
            replace(path, |out| out.write_all(bytes)).map_err(|error| Failure::unwritable(path, &error))
        }
    }
}

/// The option `--color`.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Color {
    /// When to use color: auto, always or never
    #[arg(
        id = "color",
        long = "color",
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub when: When,
}

/// The value of `--color` and `--table`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, the color or table is used, but no color if `TERM` is `dumb`.
    /// Color is also used if `FORCE_COLOR` or `CLICOLOR_FORCE` is set to a value other than `0`, and never if
    /// `NO_COLOR` is set (<https://no-color.org>).
    #[default]
    Auto,
    Always,
    Never,
}

/// Returns the rendering options for `file`, or for standard output if `file` is `None`.
pub fn look_of(file: Option<&Path>, color: When) -> Look {
    match file {
        None => look(&io::stdout(), color),
        Some(_) => Look { colour: color == When::Always, ..Look::default() },
    }
}

/// Returns the rendering options for `stream`.
pub fn look(stream: &impl IsTerminal, color: When) -> Look {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let forces = |name: &str| set(name) && std::env::var_os(name).is_none_or(|value| value != "0");
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let terminal = stream.is_terminal();
    let forced = forces("FORCE_COLOR") || forces("CLICOLOR_FORCE");
    let colour = match color {
        When::Always => true,
        When::Never => false,
        When::Auto => !set("NO_COLOR") && (forced || (!dumb && terminal)),
    };
    let width = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    Look { colour, width: terminal.then(width).flatten(), quiet: false }
}
