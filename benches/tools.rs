//! Benchmarks on inputs of growing size. Their time should be linear in the size.
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
