//! The rules that code finds, as their pages in `rules/lint/` say them: one constant for each, and `ALL`.

// A program that takes neither tools nor evidence finds fewer.
#![cfg_attr(not(feature = "tools"), allow(dead_code))]

use super::finding::Level;
use super::rule::RuleId;

include!(concat!(env!("OUT_DIR"), "/known.rs"));
