//! The rules that code finds, as their pages in `rules/lint/` say them: one constant for each, and `ALL`.

use super::finding::Level;
use super::rule::RuleId;

include!(concat!(env!("OUT_DIR"), "/known.rs"));
