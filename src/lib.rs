//! Linter, fixer and converter for ONNX models: the library of `onnx-lint`, `onnx-fix` and `onnx-diff`.
//!
//! # Reading and linting a model
//! [`open`] reads a model in any supported format, and [`lint()`] reports its problems. The file is mapped
//! into memory, and the weights of a binary model stay in it.
//!
//! ```
//! use onnx_lint::{Level, LintOptions};
//!
//! let file = onnx_lint::open("tests/pitfalls/exported/BakedBatch.ts17.onnx")?;
//! let options = LintOptions { folders: Some(file.folders.clone()), ..LintOptions::default() };
//! let findings = onnx_lint::lint(&file.model, &options);
//!
//! let worst = findings.iter().max_by_key(|finding| finding.level).expect("this model has a fault");
//! assert_eq!((&*worst.code, worst.level), ("EXP001", Level::Error));
//! assert_eq!(worst.message, "`Reshape` fixes `batch` at 2, but it is dynamic in input `in0`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`diag::render`] renders findings as the tools print them. `evidence::lint` (feature `evidence`) lints
//! any supported file as `onnx-lint` does, including the Python sources of a model.
//!
//! # Fixing and converting a model, and saving the result
//! [`fix()`] applies safe fixes, simplifies, and converts to another opset. The result computes equal
//! outputs, up to rounding, for all inputs on which the original runs and which satisfy the assumptions
//! that the applied rules list on their pages. If a conversion is not possible, findings explain why.
//!
//! ```
//! use onnx_lint::{FixOptions, Level, RuleSet};
//!
//! let file = onnx_lint::open("tests/pitfalls/exported/BakedBatch.ts17.onnx")?;
//! let options = FixOptions { opset: Some(13), ..FixOptions::default() };
//! let outcome = onnx_lint::fix(file.model.clone(), &options, &RuleSet::patterns());
//!
//! assert!(outcome.findings.iter().all(|finding| finding.level < Level::Error), "the conversion is possible");
//! assert_eq!(outcome.model.opset(outcome.model.main, ""), Some(13));
//! assert!(outcome.changed);
//!
//! let folder = tempfile::tempdir()?;
//! file.saving().save(&outcome.model, folder.path().join("for-device.onnx"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`save`] suffices for a model that has no external data.
//!
//! # Custom rules
//! Rules are text that is parsed at run time; `rules/README.md` defines the rule language. Rules with a
//! `rewrite` are also applied by [`fix()`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use onnx_lint::{LintOptions, RuleSet, read};
//!
//! let rule = r#"
//! language 3
//! ### An activation that our device runs on its CPU.
//! rule DEV001 cpu-activation {
//!   severity warning
//!   message  "`{y}` is a HardSwish, which our device runs on its CPU"
//!   match    { y = HardSwish (x) }
//!   example "alone" { g (float[A] x) => (float[A] y) { y = HardSwish (x) } }
//!     reports "`y` is a HardSwish, which our device runs on its CPU"
//!   example "another one" { g (float[A] x) => (float[A] y) { y = Relu (x) } } reports nothing
//! }
//! "#;
//! let mut rules = RuleSet::for_linting();
//! let faults = rules.add_text("device.rule", rule);
//! assert!(faults.is_empty(), "{faults:#?}");
//!
//! let text = r#"<ir_version: 8, opset_import: ["" : 17]>
//!     net (float[N] image) => (float[N] score) { score = HardSwish (image) }"#;
//! let model = read::text::read(text).0.expect("this is a model");
//! let findings = onnx_lint::lint(&model, &LintOptions { rules: Arc::new(rules), ..LintOptions::default() });
//! assert!(findings.iter().any(|finding| &*finding.code == "DEV001"));
//! ```
//!
//! # Modules
//! [`graph`] represents a model, [`mod@read`] and [`mod@write`] convert it from and to files, [`infer`]
//! infers types, shapes and constants, and [`diag`] defines findings. Modules that are
//! hidden from this documentation are internal and may change at any time.
//!
//! # Features
//! `tools` (default) provides the commands, which a program can call through `command`. With
//! `default-features = false`, a program needs none of the dependencies of the commands. `evidence` adds
//! linting of Python and exporter logs, and with it a Python parser. `remote` adds reading of [`mod@remote`]
//! files, which are named by URIs. `tables` adds the output formats `arrow` and `parquet` to the commands.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod analyses;
#[doc(hidden)]
pub mod batching;
#[cfg(feature = "tools")]
#[doc(hidden)]
pub mod cli;
pub mod diag;
#[doc(hidden)]
pub mod diff;
#[doc(hidden)]
pub mod edit;
#[doc(hidden)]
pub mod egraph;
#[cfg(feature = "evidence")]
pub mod evidence;
#[cfg(feature = "evidence")]
#[doc(hidden)]
pub mod export_log;
#[doc(hidden)]
pub mod extract;
pub mod files;
pub mod fix;
pub mod graph;
#[doc(hidden)]
pub mod import;
pub mod infer;
pub mod lint;
#[cfg(feature = "evidence")]
#[doc(hidden)]
pub mod python;
pub mod read;
pub mod remote;
#[doc(hidden)]
pub mod rule_tests;
pub mod rules;
#[doc(hidden)]
pub mod schema;
pub mod source;
pub mod targets;
#[doc(hidden)]
pub mod torch;
pub mod write;

/// Messages of `proto/onnx.proto`, as generated by prost.
#[doc(hidden)]
pub mod proto {
    #![allow(missing_docs, clippy::all, rustdoc::all)]
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}

#[cfg(feature = "tools")]
#[doc(inline)]
pub use cli::command;
#[doc(inline)]
pub use diag::{Finding, Level};
#[doc(inline)]
pub use files::{ModelFile, OpenError, SaveError, Saving, open, save};
#[doc(inline)]
pub use fix::{Options as FixOptions, Outcome, fix};
#[doc(inline)]
pub use graph::Model;
#[doc(inline)]
pub use lint::{LintOptions, lint_model as lint};
#[doc(inline)]
pub use rules::registry::RuleSet;
