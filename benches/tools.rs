//! What the tools cost, on input of growing size: ten times as much is to take ten times as long.
//!
//! `cargo bench` runs all, `cargo bench -- lint` one subject.

mod fix;
mod infer;
mod lint;
mod models;
mod read;

fn main() {
    divan::main();
}
