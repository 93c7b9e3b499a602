//! Tests onnx-fix on random graphs. See README.md in this directory.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod alone;
mod attribute;
mod batched;
mod bodies;
mod case;
mod check;
mod crew;
mod differences;
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
mod tally;
mod worker;

use std::io;
use std::num::NonZero;
use std::ops::Range;
use std::process::ExitCode;
use std::thread;

/// Returns the value of a numeric argument.
fn number(name: &str) -> Option<u64> {
    let mut arguments = std::env::args();
    arguments.find(|argument| argument == name)?;
    arguments.next()?.parse().ok()
}

fn main() -> ExitCode {
    let seed = number("--seed").unwrap_or(1);
    if std::env::args().any(|argument| argument == "--worker") {
        return worker::serve(&session::Session::new(seed));
    }
    let has = |name: &str| std::env::args().any(|argument| argument == name);
    if has("--batched-worker") {
        let (first, graphs) = (number("--first").unwrap_or(0), number("--graphs").unwrap_or(1));
        batched::serve(seed, first, graphs, !has("--alone"));
        return ExitCode::SUCCESS;
    }
    if has("--batched") {
        if let Some(number) = number("--show") {
            batched::show(seed, number);
            return ExitCode::SUCCESS;
        }
        let (first, graphs) = (number("--first").unwrap_or(0), number("--graphs").unwrap_or(2000));
        return match batched::run_all(seed, first, graphs) {
            Ok(true) => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        };
    }
    let unknown = table::unknown(|op| {
        ["", "ai.onnx.ml"].iter().any(|domain| !onnx_lint::schema::versions(domain, op).is_empty())
    });
    if !unknown.is_empty() {
        eprintln!("operators.tsv names operators without a schema: {unknown:?}");
        return ExitCode::FAILURE;
    }
    if let Some(number) = number("--show") {
        session::Session::new(seed).show(number);
        return ExitCode::SUCCESS;
    }
    let first = number("--first").unwrap_or(0);
    let graphs = number("--graphs").unwrap_or(2000);
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = number("--jobs").map_or_else(cores, |jobs| jobs as usize);
    match run(seed, first..first + graphs, jobs) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot start a worker process: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Tests graphs. Returns true if there is no new fault.
fn run(seed: u64, numbers: Range<u64>, jobs: usize) -> io::Result<bool> {
    let mut tally = tally::Tally::default();
    for tried in crew::tried(seed, numbers, jobs)? {
        tally.add(tried);
    }
    tally.print(&mut crew::Hand::new(seed)?)
}
