//! Random graphs, before against after: see README.md beside this.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod attribute;
mod bodies;
mod case;
mod check;
mod draft;
mod facts;
mod fill;
mod graph;
mod judge;
mod near;
mod node;
mod random;
mod reduce;
mod runtime;
mod same;
mod session;
mod shape;
mod table;

use std::process::ExitCode;

/// The value of an argument, as a number.
fn number(name: &str) -> Option<u64> {
    let mut arguments = std::env::args();
    arguments.find(|argument| argument == name)?;
    arguments.next()?.parse().ok()
}

fn main() -> ExitCode {
    let seed = number("--seed").unwrap_or(1);
    let first = number("--first").unwrap_or(0);
    let graphs = number("--graphs").unwrap_or(2000);
    let unknown = table::unknown(|op| {
        ["", "ai.onnx.ml"].iter().any(|domain| !onnx_lint::schema::versions(domain, op).is_empty())
    });
    if !unknown.is_empty() {
        eprintln!("operators.tsv names what no schema has: {unknown:?}");
        return ExitCode::FAILURE;
    }
    let session = session::Session::new(seed);
    match number("--show") {
        Some(show) => session.show(show),
        None => session.run(first..first + graphs),
    }
}
