//! EXP001: a number in the place of a size that the interface leaves free.

use indexmap::IndexMap;

use super::Detector;
use super::conflict;
use super::demand::{Demand, Demands, Kind, input_name};
use super::dynamic_dims::{DynamicDim, DynamicDims};
use super::reachability::Reach;
use super::reshape::{mended_target, target_text};
use super::split_axis;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::graph::NodeId;
use crate::graph::dim::Dim;
use crate::lint::context::{LintContext, number};
use crate::lint::exporter;
use crate::lint::locate::Part;

pub const DETECTOR: Detector = Detector { rules: &[BAKED_SHAPE], run };

/// A demand at its node.
struct Baked {
    node: NodeId,
    demand: Demand,
    free: DynamicDim,
    /// The node that fails, where that is a later one.
    met: Option<NodeId>,
    /// Sizes at which it fails: `batch = 3`.
    counterexample: Option<String>,
}

/// What is said of the first of some nodes that fix one size.
fn baked(cx: &LintContext, all: &[Baked]) -> Option<Finding> {
    let (found, more) = all.split_first()?;
    let node = &cx.model.nodes[found.node];
    let Demand { input, size, fixed, kind } = &found.demand;
    let of_input = cx.name(found.free.input);
    let op = &node.op_type;
    let message = match (solved(&found.demand), kind, size.div_exact(fixed)) {
        (Some((symbol, number)), ..) => {
            format!("`{op}` fixes `{symbol}` at {number}, but the input `{of_input}` leaves it free")
        }
        (None, Kind::Elements, Some(factor)) => {
            format!("`{op}` works only where {factor} is 1, but the input `{of_input}` leaves it free")
        }
        (None, Kind::Elements, None) => {
            format!(
                "`{op}` wants {fixed} elements, but gets {size}, which the input `{of_input}` leaves free"
            )
        }
        _ => format!("`{op}` fixes the size {size} at {fixed}, but the input `{of_input}` leaves it free"),
    };
    let rule = BAKED_SHAPE.at(level(found));
    let mut finding = cx.at_node(rule, found.node, Part::Input(*input), message).label(label(cx, found));
    finding = finding
        .related(cx.places.declaration(found.free.input), format!("axis {} is free", found.free.axis))
        .help(help(op));
    if let Some(target) = mended_target(cx, node) {
        finding = finding.fix(Applicability::Safe, format!("replaces {} by {target}", target_text(cx, node)));
    }
    finding.nodes.extend(more.iter().map(|other| number(other.node)));
    let of_line = if finding.source.is_some() { " of this line" } else { "" };
    Some(match more.len() {
        0 => finding,
        1 => finding.note(format!("one more node{of_line} fixes it too")),
        more => finding.note(format!("{more} more nodes{of_line} fix it too")),
    })
}

fn label(cx: &LintContext, found: &Baked) -> String {
    let Demand { size, fixed, kind, input } = &found.demand;
    match (kind, &found.counterexample) {
        (Kind::Declared(output), _) => {
            format!("the output `{}` is declared with {size} there", cx.name(*output))
        }
        (Kind::Halves, Some(at)) if let Some(node) = found.met => {
            let node = cx.node_name(node);
            format!("half of the traced size; `{node}` takes both parts, and at {at} fails")
        }
        (_, Some(at)) if let Some(node) = found.met => {
            format!("the traced size; `{}` takes it for {size}, and at {at} fails", cx.node_name(node))
        }
        (Kind::Leads, _) => {
            format!(
                "{fixed} whatever {size} is: the batch takes up the rest, and rows are mixed up, or it fails"
            )
        }
        (Kind::Resamples, _) => {
            format!("{fixed} rows whatever {size} is: the rows of the batch are blended into one another")
        }
        (Kind::Moves, _) => {
            format!(
                "{fixed} rows whatever {size} is: what is more or less goes into another axis, and mixes up rows"
            )
        }
        (Kind::Divides, _) => {
            format!(
                "{fixed} rows whatever {size} is: rows are mixed up, or it fails where they do not divide"
            )
        }
        (Kind::Elements, Some(at)) => format!("{fixed} elements, but {size} come; at {at} this fails"),
        (_, Some(at)) => format!("the traced size; at {at} this fails"),
        (_, None) => {
            let name = input_name(cx, &cx.model.nodes[found.node], *input);
            format!("`{name}` was made for {fixed}")
        }
    }
}

fn help(op: &str) -> &'static str {
    match op {
        "Reshape" => "take the size from the tensor, as in x.reshape(x.shape[0], …), or let one axis be -1",
        "Resize" => {
            "give the scale instead, or resize to sizes that are computed: F.interpolate(x, size=y.shape[2:])"
        }
        "Expand" => "take the size from the tensor: x.expand(y.shape[0], …), or x.expand_as(y)",
        "GRU" | "LSTM" | "RNN" => {
            "make the initial state from the size of the sequence: x.new_zeros(n, x.shape[1], h)"
        }
        "Slice" => {
            "cut at a size that is computed, without `int()`: x.chunk(2, dim=1), or x[:, : x.shape[1] // 2]"
        }
        "Split" => "an axis of free size has no fixed number of parts: index it, or reshape it",
        "Squeeze" => "take the one element that is meant, as in x[0], or keep the axis",
        _ => {
            "make the constant from the sizes of the tensor that it is combined with: torch.zeros(x.shape[0], …)"
        }
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let free = DynamicDims::new(cx.model, cx.facts);
    if free.is_empty() || exporter::guarded_sizes(cx.model) {
        return;
    }
    let reach = Reach::new(cx.model);
    let demands = Demands { cx, free: &free, reach: &reach };
    let mut faults = Faults::default();
    for (id, node) in cx.nodes() {
        // What shows later is proved to fail there, and is said rather than what the node itself tells.
        for conflict in conflict::at_node(&demands, id).into_iter().chain(split_axis::at_node(&demands, id)) {
            faults.add(cx, &free, conflict.cause, conflict.demand, conflict.met);
        }
        for demand in demands.of(node) {
            faults.add(cx, &free, id, demand, None);
        }
    }
    for conflict in conflict::at_outputs(&demands) {
        faults.add(cx, &free, conflict.cause, conflict.demand, conflict.met);
    }
    sink.extend(faults.found.values().filter_map(|nodes| baked(cx, nodes)));
}

/// One fault for each line of Python and size; without a line, one for each size and number.
#[derive(Default)]
struct Faults {
    /// Of every fault its nodes, the first of which is shown.
    found: IndexMap<String, Vec<Baked>>,
}

impl Faults {
    fn add(
        &mut self,
        cx: &LintContext,
        free: &DynamicDims,
        node: NodeId,
        demand: Demand,
        met: Option<NodeId>,
    ) {
        let Some(free_size) = free.lost(&demand.size, &demand.fixed) else { return };
        if free.holds_when_large(&demand.size, &demand.fixed) {
            return;
        }
        let counterexample = counterexample(free, &demand);
        let source = cx.places.source(node).map_or(String::new(), |at| format!("{}:{}", at.file, at.line));
        let key = format!("{source} {} {}", demand.size, demand.fixed);
        let nodes = self.found.entry(key).or_default();
        let found = Baked { node, demand, free: free_size, met, counterexample };
        match nodes.iter_mut().find(|known| known.node == node) {
            Some(known) if is_proved(&found) && !is_proved(known) => *known = found,
            Some(_) => {}
            None => nodes.push(found),
        }
    }
}

fn counterexample(free: &DynamicDims, Demand { size, fixed, kind, .. }: &Demand) -> Option<String> {
    let number = fixed.as_const();
    match kind {
        Kind::Broadcast => free.counterexample(size, |value| value > 1 && Some(value) != number),
        Kind::Equal => free.counterexample(size, |value| value > 0 && Some(value) != number),
        Kind::Elements => free.counterexample(&size.sub(fixed)?, |difference| difference != 0),
        Kind::Halves => {
            let half = number? / 2;
            free.counterexample(size, |value| value > half + 1 && Some(value) != number)
        }
        Kind::Moves | Kind::Divides | Kind::Leads | Kind::Resamples | Kind::Declared(_) => None,
    }
}

/// A number before a -1 may be meant: `{2,-1}` gives two views of each sample, whatever the size that was traced.
fn level(found: &Baked) -> Level {
    match found.demand.kind {
        Kind::Moves | Kind::Divides => Level::Info,
        _ if is_proved(found) => Level::Error,
        _ => Level::Warning,
    }
}

/// Whether a run at sizes that the interface promises certainly fails.
fn is_proved(found: &Baked) -> bool {
    found.free.named && found.counterexample.is_some()
}

/// The symbol and the number that alone meets the demand, where it speaks of one symbol linearly.
fn solved(demand: &Demand) -> Option<(String, i64)> {
    let mut symbols = demand.size.symbols().filter(|symbol| !demand.fixed.contains(symbol));
    let (symbol, None) = (symbols.next()?.clone(), symbols.next()) else { return None };
    let unit = demand.size.substitute(&|other| (*other == symbol).then_some(Dim::known(1)))?;
    let number = demand.fixed.div_exact(&unit)?.as_const()?;
    let there = demand.size.substitute(&|other| (*other == symbol).then_some(Dim::known(number)))?;
    (there == demand.fixed).then(|| (symbol.to_string(), number))
}
