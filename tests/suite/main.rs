//! Tests of the tools as a whole. One binary links once, and the suites share helpers.

mod bad_models;
mod bad_rules;
mod bodies;
mod budgets;
mod bytes;
mod cli_baseline;
mod cli_comments;
mod cli_config;
mod cli_fix;
mod cli_lint;
mod cli_merge;
mod cli_places;
mod cli_precision;
mod cli_prints;
mod cli_remaining;
mod cli_rules;
mod cli_suppress;
mod config_schema;
mod constraints;
mod convert;
mod cycles;
mod determinism;
mod diff;
mod dynamic;
mod fixes;
mod found;
mod growth;
mod html;
mod integrations;
mod language;
mod library;
mod links;
mod lint;
mod models;
mod mutation;
mod pitfalls;
mod precision;
mod programs;
mod provenance;
mod pytorch;
mod readme;
mod repairs;
mod roundtrip;
mod rule_files;
mod rules;
mod server;
mod site;
mod soundness;
mod targets;
mod text;
mod tidy;
mod tool;
mod verify;

/// Counts the memory of each thread, for tests that limit it.
#[global_allocator]
static ALLOCATOR: bytes::meter::Counting = bytes::meter::Counting;
