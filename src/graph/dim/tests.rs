//! Algebraic laws on random expressions, and tables of canonical forms.

mod laws;
mod tables;
