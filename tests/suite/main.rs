//! All tests of the tools as a whole. One binary: it links once, and the suites share `models`.

mod lint;
mod models;
mod roundtrip;
mod text;
