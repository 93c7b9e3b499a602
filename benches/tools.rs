//! Benchmarks on inputs of growing size. The time should be linear in the size of the input.
//!
//! `cargo bench` runs all benchmarks, and `cargo bench -- lint` only those of linting.

mod fix;
mod infer;
mod lint;
mod models;
mod read;

fn main() {
    divan::main();
}
