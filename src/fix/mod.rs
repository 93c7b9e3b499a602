//! Mends a model, converts it to another opset, and takes the cheapest of its equal forms.

pub mod options;
pub mod report;

pub use options::{FixedShape, FreeDim, Options};
pub use report::Report;

use crate::diag::Finding;
use crate::graph::Model;

/// What became of a model.
#[derive(Debug)]
pub struct Outcome {
    /// The model as it is now; the one that was given where nothing could be done.
    pub model: Model,
    pub report: Report,
    /// Why something could not be done: findings at level error are blockers, and nothing may be written.
    pub findings: Vec<Finding>,
    /// Whether `model` differs from what was given.
    pub changed: bool,
}

/// Does to `model` what `options` say.
pub fn fix(model: Model, options: &Options) -> Outcome {
    let step = |version| report::Step { from: version, to: version };
    let nodes = report::Count { before: model.nodes.len(), after: model.nodes.len() };
    let report = Report {
        opset: step(model.opset(model.main, "")),
        ir_version: step(model.ir_version),
        nodes,
        ..Report::default()
    };
    let findings = options.opset.filter(|&to| report.opset.from != Some(to)).map(|to| {
        let message = format!("the model cannot be converted to opset {to}");
        Finding::new(
            "FIX001",
            "not-convertible",
            crate::diag::Level::Error,
            message,
            crate::diag::Place::File,
        )
    });
    Outcome { model, report, findings: findings.into_iter().collect(), changed: false }
}
