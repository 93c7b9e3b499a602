//! All tests of the tools as a whole. One binary: it links once, and the suites share `models`.

mod bad_rules;
mod canonical;
mod lint;
mod models;
mod roundtrip;
mod rules;
mod text;
