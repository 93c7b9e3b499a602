//! Laws, on random expressions, and tables of exact forms.

mod laws;
mod tables;
