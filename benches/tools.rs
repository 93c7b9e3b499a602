//! Benchmarks of the tools on inputs of growing size, which should take time linear in the size.
//!
//! `cargo bench` runs all benchmarks, `cargo bench -- lint` those of one subject.

mod fix;
mod infer;
mod lint;
mod models;
mod read;

fn main() {
    divan::main();
}
