//! Operators that an exporter cannot write.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::ancestors;
use super::calls::Args;
use super::exporting::ExportCall;
use super::frame::Frame;
use super::machine::Machine;
use super::release::Release;
use super::trace::{Event, Operator};
use super::value::Value;

/// Operators that an exporter does not support, by exporter.
const TABLE: &str = include_str!("torch/unsupported.tsv");

/// Adaptive average pooling to a size that does not divide the size of its input.
pub const UNEVEN_AVERAGE: &str = "adaptive average pooling to a size that does not divide its input";
/// Functions and layers that `dynamo=True` writes as one operator, and its first opset.
const KEPT: [(&[&str], i64); 4] = [
    (&["layer_norm", "LayerNorm"], 17),
    (&["hardswish", "Hardswish"], 14),
    (&["tril", "triu"], 14),
    (&["einsum"], 12),
];

/// Lowest opset that `dynamo=True` accepts; other checks report a lower one.
const LOWEST: i64 = 7;

/// First opset at which the tracing exporter supports an operator.
const OPSETS: &str = include_str!("torch/opsets.tsv");

/// `x & y` of integers; opset 18 has an operator for it.
pub const BITWISE_AND: &str = "`&` of integers";
/// `x | y` of integers.
pub const BITWISE_OR: &str = "`|` of integers";
/// `x ^ y` of integers.
pub const BITWISE_XOR: &str = "`^` of integers";
/// `~x` of integers.
pub const BITWISE_NOT: &str = "`~` of integers";
/// A `scatter_add` that adds to an element twice; opset 16 has an operator for it.
pub const REPEATED_SCATTER: &str = "more than one `scatter_add` to an element";
/// An `index_put` that adds to an element twice.
pub const REPEATED_PUT: &str = "more than one addition to an element by `index_put`";
/// A `scatter_reduce` of a mean.
pub const SCATTERED_MEAN: &str = "`scatter_reduce` with `reduce=\"mean\"`";
/// A `scatter_reduce` without the elements of its operand.
pub const SCATTERED_ONLY: &str = "`scatter_reduce` with `include_self=False`";
/// An interpolation to the nearest element, as image libraries round.
pub const NEAREST_EXACT: &str = "`interpolate` with the mode \"nearest-exact\"";
/// An interpolation with a low-pass filter.
pub const ANTIALIASED: &str = "`interpolate` with `antialias=True`";
/// An LSTM with `proj_size`.
pub const PROJECTED: &str = "an LSTM with `proj_size`";
/// The fused path of a Transformer encoder.
pub const FAST_ENCODER: &str = "the fused path that a Transformer encoder takes without gradients";
/// An `index_add` whose index contains a row twice.
pub const REPEATED_INDEX: &str = "more than one addition to a row";
/// `torch.stft` whose result is complex.
pub const COMPLEX_STFT: &str = "`torch.stft` with `return_complex=True`";
/// Adaptive max pooling to a size that does not divide the size of its input.
pub const UNEVEN_MAXIMUM: &str = "adaptive max pooling to a size that does not divide its input";

impl<'t> Machine<'t> {
    /// Records an operator or layer that a model certainly executes.
    ///
    /// `varies` is true if an operand certainly depends on an input of the model.
    /// The exporter folds other operators.
    pub fn executed(&mut self, name: &str, node: Node<'t>, varies: bool) {
        let is_running = !self.examples.is_empty() && self.quiet == 0;
        if is_running && self.operators.len() < MAX_OPERATORS && self.is_certain() {
            self.operators.push(self.operator_here(name, node, varies));
        }
    }

    /// Returns true if an argument certainly depends on an input of the running model.
    pub fn varies(&self, args: &Args<'t>) -> bool {
        let is_varying = |value: &Value<'t>| {
            value.tensor().is_some_and(|tensor| tensor.varies && !self.is_changed(tensor))
        };
        args.all().any(|value| {
            is_varying(value) || self.items(value).is_some_and(|items| items.iter().any(is_varying))
        })
    }

    /// Returns true if a call, or a call that leads to it, is in a `try` statement.
    ///
    /// A handler may export in another way.
    fn is_tried(&self, call: &ExportCall<'t>) -> bool {
        let calls = self.frames.iter().filter_map(|frame| frame.call.map(|(_, node)| node));
        calls.chain([call.node]).any(|node| ancestors(node).any(|outer| outer.kind() == "try_statement"))
    }

    /// Returns false if the running model may have branched away from the current statement.
    pub fn is_certain(&self) -> bool {
        let (doubt, count) = self.model_start;
        self.runs_certainly(doubt, count)
    }

    /// Returns false if the script may have branched away from the current statement.
    pub fn is_unconditional(&self) -> bool {
        self.runs_certainly(0, 0)
    }

    /// Returns true if at most `doubt` enclosing branches, and no frame from `count` on, may be left.
    fn runs_certainly(&self, doubt: u32, count: usize) -> bool {
        let stays = |frame: &Frame| {
            let is_in_loop =
                |(breaks, continues): &(Vec<_>, Vec<_>)| breaks.is_empty() && continues.is_empty();
            frame.returned.is_empty() && frame.loops.iter().all(is_in_loop)
        };
        self.doubt <= doubt && self.frames.iter().skip(count).all(stays)
    }

    /// Returns true if gradients are disabled.
    pub fn is_without_gradients(&self) -> bool {
        self.contexts.iter().any(|context| {
            let class = context.path().map(str::to_owned).or_else(|| self.library_class(context));
            class.is_some_and(|class| class.ends_with("no_grad") || class.ends_with("inference_mode"))
        })
    }

    /// Reports the operators of a model that its exporter cannot write.
    pub fn check_operators(
        &mut self,
        call: &ExportCall<'t>,
        operators: &[Operator<'t>],
        trace: &[Event<'t>],
    ) {
        let is_known = call.exporter == "torch.onnx.export" && !self.has_symbolics && !self.is_tried(call);
        if !is_known || self.may_replace_forward() {
            return;
        }
        let argument = |name: &str| call.named(name).map(|one| &one.value);
        let extends = ["custom_translation_table", "custom_opsets", "operator_export_type"];
        if !call.is_complete || extends.iter().any(|name| argument(name).is_some()) {
            return;
        }
        let exporter = match argument("dynamo") {
            None | Some(Value::Bool(true)) => "dynamo",
            Some(Value::Bool(false)) => "tracing",
            _ => return,
        };
        let is_kept = |operator: &&Operator<'t>| !self.may_vanish(operator, operators, trace);
        let unsupported = operators.iter().filter(|operator| is_unsupported(&operator.name, exporter));
        let unsupported: Vec<&Operator<'t>> = unsupported.rev().take(MAX_SEARCHES).filter(is_kept).collect();
        for operator in unsupported {
            let (what, other) = match exporter {
                "tracing" => ("tracing exporter", is_unsupported(&operator.name, "dynamo")),
                _ => ("exporter", is_unsupported(&operator.name, "tracing")),
            };
            let shown = shown(&operator.name);
            let help = match (other, exporter) {
                (true, _) => "use other operators, or compute the result outside of the model",
                (false, "tracing") => "export with `dynamo=True`, or use other operators",
                _ => "export with `dynamo=False`, or use other operators",
            };
            self.tell_operator(call, operator, format!("the {what} does not support {shown}"), help);
        }
        let requested = argument("opset_version").and_then(Value::int);
        if let Some(opset) = requested.filter(|_| exporter == "dynamo") {
            self.check_conversion(call, operators, trace, opset);
        }
        let opset = requested.filter(|_| exporter == "tracing");
        let newer = operators.iter().filter_map(|operator| {
            let (opset, first) = opset.zip(first_opset(&operator.name))?;
            (first > opset).then_some((operator, opset, first))
        });
        for (operator, opset, first) in newer.rev().take(MAX_SEARCHES) {
            if !self.may_vanish(operator, operators, trace) {
                let shown = shown(&operator.name);
                let what = format!("the tracing exporter supports {shown} from opset {first} on");
                let help = format!("use `opset_version={first}` instead of {opset}");
                self.tell_operator(call, operator, what, &help);
            }
        }
    }

    /// Reports an operator that keeps `dynamo=True` from converting the file to an opset below 18.
    fn check_conversion(
        &mut self,
        call: &ExportCall<'t>,
        operators: &[Operator<'t>],
        trace: &[Event<'t>],
        opset: i64,
    ) {
        let first =
            |name: &str| KEPT.iter().find(|(names, _)| names.contains(&name)).map(|(_, first)| *first);
        let is_newer = |operator: &&Operator<'t>| first(&operator.name).is_some_and(|first| first > opset);
        let mut newer = operators.iter().filter(is_newer).take(MAX_SEARCHES);
        let Some(operator) = newer.find(|operator| !self.may_vanish(operator, operators, trace)) else {
            return;
        };
        if opset < LOWEST || self.release < Release(2, 9) {
            return;
        }
        let shown = shown(&operator.name);
        let message = format!("the file keeps opset 18: opset {opset} has no operator for {shown}");
        let finding = rule_ids::UNSUPPORTED_OPSET
            .at(Level::Warning)
            .finding(message, Place::Source(self.place(call.file, call.node)))
            .note("the exporter warns that it cannot convert the file, and writes opset 18")
            .help(format!("convert the file: `onnx-fix --opset {opset} model.onnx -o older.onnx`"));
        let used = Place::Source(self.place(operator.file, operator.node));
        self.tell([finding.related(used, "used here")]);
    }

    /// Returns true if the script may replace an operator, or if no output may depend on its result.
    fn may_vanish(&self, operator: &Operator<'t>, operators: &[Operator<'t>], trace: &[Event<'t>]) -> bool {
        let last = operator.name.rsplit('.').next().unwrap_or(&operator.name);
        if !operator.varies || self.is_patched(last) {
            return true;
        }
        !self.reaches_output(operator, operators, trace)
    }

    fn tell_operator(&mut self, call: &ExportCall<'t>, operator: &Operator<'t>, message: String, help: &str) {
        let place = self.place(operator.file, operator.node);
        let outer = self.place(call.file, call.node);
        let mut finding = rule_ids::UNSUPPORTED_OPERATOR.finding(message, Place::Source(place.clone()));
        let note = match operator.name.as_str() {
            REPEATED_INDEX => "the export raises, or the file keeps only one of the additions",
            REPEATED_SCATTER | REPEATED_PUT => "the file keeps only one of the additions",
            _ => "the export raises",
        };
        finding = finding.note(note).help(help);
        if operator.file != call.file || outer.line != place.line {
            finding = finding.related(Place::Source(outer), "exported here");
        }
        self.tell([finding]);
    }
}

/// Maximum number of unsupported operators for which a path to an output is searched.
const MAX_SEARCHES: usize = 64;

/// Maximum number of recorded operators.
const MAX_OPERATORS: usize = 10_000;

/// Returns the name of a function in backticks, or a description.
fn shown(name: &str) -> String {
    if name.contains(' ') { name.to_owned() } else { format!("`{name}`") }
}

fn is_unsupported(name: &str, exporter: &str) -> bool {
    match name {
        UNEVEN_MAXIMUM => return true,
        UNEVEN_AVERAGE | FAST_ENCODER | REPEATED_INDEX | REPEATED_PUT | COMPLEX_STFT | BITWISE_OR
        | BITWISE_XOR | BITWISE_NOT | SCATTERED_MEAN | SCATTERED_ONLY | NEAREST_EXACT | ANTIALIASED
        | PROJECTED => return exporter == "tracing",
        _ => {}
    }
    let rows = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let mut rows = rows.filter(|(by, _)| *by == "both" || *by == exporter);
    rows.any(|(_, names)| names.split(' ').any(|known| known == name))
}

/// Returns the first opset at which the tracing exporter writes an operator, if it is above 9.
fn first_opset(name: &str) -> Option<i64> {
    match name {
        BITWISE_AND => return Some(18),
        REPEATED_SCATTER => return Some(16),
        _ => {}
    }
    let rows = OPSETS.lines().filter_map(|line| line.split_once('\t'));
    let mut rows = rows.filter(|(_, names)| names.split(' ').any(|known| known == name));
    rows.next()?.0.parse().ok()
}
