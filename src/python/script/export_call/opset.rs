//! `opset_version`: limits of the exporters, and of the converter that lowers the opset of a program.

use crate::diag::rule_ids::UNSUPPORTED_OPSET;
use crate::diag::{Applicability, Level};

use super::super::super::report::Piece;
use super::super::release::Release;
use super::super::value::Value;
use super::check::{Check, Words};
use super::request::Exporter;
use super::signature;
use super::value_node;

/// Opset limits of an exporter.
///
/// Outside of `lowest` to `highest`, the exporter raises, or writes a file that ONNX Runtime does not load,
/// or that has another opset.
pub struct Limits {
    /// Lowest opset.
    pub lowest: i64,
    /// Highest opset.
    pub highest: i64,
    /// The highest opset that the exporter supports officially.
    pub supported: i64,
}

/// Opset limits of the tracing exporter.
pub const TRACING: Limits = Limits { lowest: 7, highest: 23, supported: 20 };
const DYNAMO: Limits = Limits { lowest: 7, highest: 26, supported: 26 };

impl<'t> Check<'_, '_, 't> {
    /// Checks the opset.
    pub fn opset(&mut self) {
        let request = self.request;
        let Some(Value::Int(opset)) = request.given("opset_version") else { return };
        let (limits, name) = match request.exporter {
            Exporter::Tracing if request.release < Release(2, 4) => {
                let Some(highest) = signature::tracing_limit(request.release) else { return };
                (Limits { highest, supported: highest, ..TRACING }, "the tracing exporter")
            }
            Exporter::Tracing => (TRACING, "the tracing exporter"),
            Exporter::Dynamo if request.release < Release(2, 9) => return,
            Exporter::Dynamo => (DYNAMO, "the exporter of `dynamo=True`"),
            _ => return,
        };
        let node = request.node("opset_version");
        let inner = value_node(node);
        let by = |opset: i64| {
            let is_literal = inner.kind() == "integer";
            let piece = Piece::instead(inner, &opset.to_string(), Applicability::Unsafe, self.source());
            piece.filter(|_| is_literal)
        };
        if *opset > limits.highest {
            let rewrite = by(limits.supported);
            let is_tracing = request.exporter == Exporter::Tracing;
            let note = if is_tracing { "the exporter raises" } else { "ONNX Runtime does not load the file" };
            let words = Words::new(UNSUPPORTED_OPSET, node, format!("{name} does not support opset {opset}"))
                .note(note)
                .help(format!("use opset {} at most", limits.supported))
                .rewrite(rewrite);
            if is_tracing { self.say_raised(words) } else { self.say(words) }
        } else if *opset < limits.lowest {
            let is_tracing = request.exporter == Exporter::Tracing;
            let usual = if is_tracing { 17 } else { 18 };
            let rewrite = by(usual);
            self.say(
                Words::new(UNSUPPORTED_OPSET, node, format!("{name} does not support opset {opset}"))
                    .at(if is_tracing { Level::Error } else { Level::Warning })
                    .note(if request.exporter == Exporter::Tracing {
                        "the exporter writes operators that ONNX Runtime does not implement"
                    } else {
                        "the file has opset 18 instead"
                    })
                    .help(format!("use opset {usual} or later"))
                    .rewrite(rewrite),
            );
        } else if *opset < 18 && request.exporter == Exporter::Dynamo {
            self.say(
                Words::new(UNSUPPORTED_OPSET, node, format!("{name} may keep opset 18 instead of {opset}"))
                    .at(Level::Info)
                    .note("the exporter converts a file of opset 18, which fails silently for many operators")
                    .help(format!("convert the file: `onnx-fix --opset {opset} model.onnx -o older.onnx`")),
            );
        } else if *opset > limits.supported {
            self.say(
                Words::new(
                    UNSUPPORTED_OPSET,
                    node,
                    format!("{name} does not support opset {opset} officially"),
                )
                .at(Level::Info)
                .note("the exporter warns, and writes operators of opset 20 into a file with the requested opset")
                .help(format!("use opset {} at most, or export with `dynamo=True`", limits.supported)),
            );
        }
    }
}
