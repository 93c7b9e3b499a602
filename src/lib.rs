//! Finds what went wrong when a model was exported to ONNX, and mends it: the library of `onnx-lint` and `onnx-fix`.
//!
//! # Reading a model, and linting it
//! [`open`] takes a model in any form, and [`lint()`] finds what is wrong with it. Weights are not read.
//!
//! ```
//! use onnx_lint::{Level, LintOptions};
//!
//! let file = onnx_lint::open("tests/pitfalls/exported/BakedBatch.ts17.onnx")?;
//! let options = LintOptions { folder: Some(file.folder.clone()), ..LintOptions::default() };
//! let findings = onnx_lint::lint(&file.model, &options);
//!
//! let worst = findings.iter().max_by_key(|finding| finding.level).expect("this model has a fault");
//! assert_eq!((&*worst.code, worst.level), ("EXP001", Level::Error));
//! assert_eq!(worst.message, "`Reshape` fixes `batch` at 2, but the input `in0` leaves it free");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`diag::render`] shows findings as the tools do; `evidence::lint` (feature `evidence`) finds what the tool finds
//! in any file, with the Python behind it.
//!
//! # Mending and converting it, and writing the result
//! [`fix()`] mends what is safe to mend, simplifies, and converts to another opset. Wherever the model given runs, what
//! it gives computes the same, up to rounding; or else it is a refusal, whose findings say why.
//!
//! ```
//! use onnx_lint::{FixOptions, Level, RuleSet};
//!
//! let file = onnx_lint::open("tests/pitfalls/exported/BakedBatch.ts17.onnx")?;
//! let options = FixOptions { opset: Some(13), ..FixOptions::default() };
//! let outcome = onnx_lint::fix(file.model.clone(), &options, &RuleSet::patterns());
//!
//! assert!(outcome.findings.iter().all(|finding| finding.level < Level::Error), "nothing stands in the way");
//! assert_eq!(outcome.model.opset(outcome.model.main, ""), Some(13));
//! assert!(outcome.changed);
//!
//! let folder = tempfile::tempdir()?;
//! file.saving().save(&outcome.model, folder.path().join("for-device.onnx"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`save`] does the same for a model that needs no external data.
//!
//! # With a rule of one's own
//! Rules are text, read when the program runs; their language is in `rules/README.md`. One with a `rewrite` is applied
//! by [`fix()`], too.
//!
//! ```
//! use std::sync::Arc;
//!
//! use onnx_lint::{LintOptions, RuleSet, read};
//!
//! let rule = r#"
//! language 2
//! ### An activation that our device runs on its CPU.
//! rule DEV001 cpu-activation {
//!   severity warning
//!   message  "`{y}` is a HardSwish, which our device runs on its CPU"
//!   match    { y = HardSwish (x) }
//!   example "alone" { g (float[A] x) => (float[A] y) { y = HardSwish (x) } }
//!     finds "`y` is a HardSwish, which our device runs on its CPU"
//!   example "another one" { g (float[A] x) => (float[A] y) { y = Relu (x) } } finds nothing
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
//! # Parts
//! [`graph`] is a model; [`mod@read`] and [`mod@write`] are its forms; [`infer`] tells what can be known of its values
//! without running it; [`diag`] is what findings are made of. Modules that are not listed are the insides of the tools:
//! they may change at any time.
//!
//! # Features
//! `tools`, the default, is all that the two commands need, which a program may bring along: `command`. A program that takes the library with
//! `default-features = false` gets none of their dependencies; `evidence` adds linting of Python and of logs, and with
//! it a parser of Python.
#![warn(missing_docs)]

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
pub mod rules;
#[doc(hidden)]
pub mod schema;
pub mod source;
pub mod targets;
#[doc(hidden)]
pub mod torch;
#[doc(hidden)]
pub mod trial;
pub mod write;

/// The messages of `proto/onnx.proto`, as prost generates them.
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
