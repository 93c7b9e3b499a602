//! Standard output, as terminals and pipes want it.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use super::Failure;

/// Writes `text` to standard output. A reader that went away (`| head`) has what it wanted.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// The same for bytes.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes `text` to `file`, or to standard output where there is none.
pub fn write(text: &str, file: Option<&Path>) -> Result<(), Failure> {
    match file {
        None => print(text),
        Some(path) => std::fs::write(path, text).map_err(|error| Failure::unwritable(path, &error)),
    }
}

/// Whether `stream` shows colours: it is a terminal, and `NO_COLOR` (<https://no-color.org>) is not set.
pub fn colour(stream: &impl IsTerminal) -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !unwanted && !dumb && stream.is_terminal()
}
