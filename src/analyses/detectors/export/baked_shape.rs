//! EXP001: constants in place of dynamic dimensions.

use indexmap::IndexMap;

use super::Detector;
use super::conflict;
use super::demand::{Demand, Demands, Kind, input_name};
use super::dynamic_dims::{DynamicDim, DynamicDims, sizes_text};
use super::reachability::Reach;
use super::reshape::{mended_target, target_text};
use super::split_axis;
use crate::analyses::context::{LintContext, number};
use crate::analyses::exporter;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::BAKED_SHAPE;
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::graph::NodeId;
use crate::graph::dim::Dim;

/// Detector of EXP001.
pub const DETECTOR: Detector = Detector { rules: &[BAKED_SHAPE], run };

/// Violated size constraint, with the node to report.
struct Baked {
    node: NodeId,
    demand: Demand,
    free: DynamicDim,
    /// Later node that fails, if `node` itself does not.
    met: Option<NodeId>,
    /// Sizes at which the model fails or mixes up rows, such as `batch = 3`.
    counterexample: Option<String>,
}

/// Creates one finding for all nodes of a fault; returns `None` if there are no nodes.
fn baked(cx: &LintContext, all: &[Baked]) -> Option<Finding> {
    let (found, more) = all.split_first()?;
    let node = &cx.model.nodes[found.node];
    let Demand { input, size, fixed, kind } = &found.demand;
    let of_input = cx.name(found.free.input);
    let op = &node.op_type;
    let message = match (solved(&found.demand), kind, size.div_exact(fixed)) {
        (Some((symbol, number)), ..) => {
            format!("`{op}` fixes `{symbol}` at {number}, but it is dynamic in input `{of_input}`")
        }
        (None, Kind::Elements, Some(factor)) => {
            format!("`{op}` requires {factor} to be 1, but it is dynamic in input `{of_input}`")
        }
        (None, Kind::Elements, None) => {
            format!(
                "`{op}` requires {fixed} elements, but receives {size}, which is dynamic in input `{of_input}`"
            )
        }
        _ => format!("`{op}` fixes the size {size} at {fixed}, but it is dynamic in input `{of_input}`"),
    };
    let rule = BAKED_SHAPE.at(level(found));
    let mut finding = cx.at_node(rule, found.node, Part::Input(*input), message).label(label(cx, found));
    finding = finding
        .related(cx.places.declaration(found.free.input), format!("axis {} is dynamic", found.free.axis))
        .help(help(op, *input));
    if let Some(target) = mended_target(cx, node) {
        finding = finding.fix(Applicability::Safe, format!("replaces {} by {target}", target_text(cx, node)));
    }
    finding.nodes.extend(more.iter().map(|other| number(other.node)));
    let of_line = if finding.source.is_some() { " of this line" } else { "" };
    Some(match more.len() {
        0 => finding,
        1 => finding.note(format!("1 more node{of_line} hard-codes this size")),
        more => finding.note(format!("{more} more nodes{of_line} hard-code this size")),
    })
}

fn label(cx: &LintContext, found: &Baked) -> String {
    let Demand { size, fixed, kind, input } = &found.demand;
    match (kind, &found.counterexample) {
        (Kind::Declared(output), _) => {
            format!("output `{}` declares the dynamic dimension `{size}` on this axis", cx.name(*output))
        }
        (Kind::Halves, Some(at)) if let Some(node) = found.met => {
            let node = cx.node_name(node);
            format!("half of the traced size; `{node}` combines both parts, and fails at {at}")
        }
        (_, Some(at)) if let Some(node) = found.met => {
            format!("the traced size; `{}` requires {size}, and fails at {at}", cx.node_name(node))
        }
        (Kind::Leads, _) => {
            format!(
                "always {fixed}, whatever {size} is: -1 changes the batch size instead, which mixes up rows or fails"
            )
        }
        (Kind::Resamples, _) => {
            format!("always {fixed} rows, whatever {size} is: rows of the batch are interpolated")
        }
        (Kind::Moves, _) => {
            format!(
                "always {fixed} rows, whatever {size} is: -1 changes another axis instead, which mixes up rows"
            )
        }
        (Kind::Mixes { .. }, Some(at)) => {
            format!("always {fixed} rows, whatever {size} is: at {at}, rows are mixed up, or the node fails")
        }
        (Kind::Divides | Kind::Mixes { .. }, _) => {
            format!(
                "always {fixed} rows, whatever {size} is: rows are mixed up, or the node fails if they do not divide evenly"
            )
        }
        (Kind::Elements, Some(at)) => {
            format!("{fixed} elements, but the input has {size}; this fails at {at}")
        }
        (_, Some(at)) => format!("the traced size; this fails at {at}"),
        (_, None) => {
            let name = input_name(cx, &cx.model.nodes[found.node], *input);
            format!("`{name}` has the traced size {fixed}")
        }
    }
}

fn help(op: &str, input: usize) -> &'static str {
    match op {
        "Reshape" => "take the size from the tensor, as in x.reshape(x.shape[0], …), or use -1 for one axis",
        "Resize" => "pass the scale factor instead, or computed sizes: F.interpolate(x, size=y.shape[2:])",
        "Expand" => "take the size from the tensor: x.expand(y.shape[0], …), or x.expand_as(y)",
        "GRU" | "LSTM" | "RNN" if input == 4 => {
            "pass the lengths as a tensor input of `forward`, without .tolist() or int(), to pack_padded_sequence"
        }
        "GRU" | "LSTM" | "RNN" => {
            "create the initial state with the batch size of the sequence: x.shape[1], or x.shape[0] with batch_first=True"
        }
        "Slice" => "slice at a computed size, without `int()`: x.chunk(2, dim=1), or x[:, : x.shape[1] // 2]",
        "Split" => {
            "index or reshape the axis instead: a dynamic axis cannot be split into parts of static sizes"
        }
        "Squeeze" => "index the intended element, as in x[0], or keep the axis",
        "Tile" => "repeat by a size of the tensor: x.repeat(y.shape[0], 1)",
        _ => {
            "create the constant with sizes of the tensor that it is combined with: torch.zeros(x.shape[0], …)"
        }
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let free = DynamicDims::new(cx.model, cx.facts);
    if free.is_empty() {
        return;
    }
    let reach = Reach::new(cx.model);
    let demands = Demands { cx, free: &free, reach: &reach };
    let mut faults = Faults::default();
    if exporter::guarded_sizes(cx.model) {
        faults.add_unguarded(&demands);
        sink.extend(faults.found.values().filter_map(|nodes| baked(cx, nodes)));
        return;
    }
    for (id, node) in cx.nodes() {
        // Conflicts are added first: of several faults of a node, the first is kept, unless only a later one
        // is proved.
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

/// Faults, one for each Python line, size and constant.
#[derive(Default)]
struct Faults {
    /// Nodes of each fault; a finding is reported at the first node.
    found: IndexMap<String, Vec<Baked>>,
}

impl Faults {
    /// Adds the size constraints that `torch.export` does not guard.
    ///
    /// The guards of `torch.export` do not cover sizes that are computed as floating-point numbers, as in
    /// `int(x.shape[0] / 4)`, and do not check that a product of several sizes is constant.
    fn add_unguarded(&mut self, demands: &Demands) {
        for (id, node) in demands.cx.nodes().filter(|(_, node)| node.is("Reshape")) {
            let is_unguarded = |demand: &Demand| match demand.kind {
                Kind::Mixes { .. } => true,
                Kind::Elements => demand.fixed.as_const().is_some() && demand.size.symbols().nth(1).is_some(),
                _ => false,
            };
            let demand = demands.reshape(node).filter(is_unguarded);
            demand.into_iter().for_each(|demand| self.add(demands.cx, demands.free, id, demand, None));
        }
    }

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
        Kind::Mixes { at } => Some(sizes_text(size, *at)),
        Kind::Moves | Kind::Divides | Kind::Leads | Kind::Resamples | Kind::Declared(_) => None,
    }
}

/// Returns the level of a fault.
///
/// A constant before a -1 can be intended: `{2,-1}` creates two views of each sample.
fn level(found: &Baked) -> Level {
    match found.demand.kind {
        Kind::Moves | Kind::Divides => Level::Info,
        Kind::Mixes { .. } => Level::Warning,
        _ if is_proved(found) => Level::Error,
        _ => Level::Warning,
    }
}

/// Whether a run certainly fails at sizes that the interface allows.
fn is_proved(found: &Baked) -> bool {
    let fails = !matches!(found.demand.kind, Kind::Mixes { .. });
    fails && found.free.named && found.counterexample.is_some()
}

/// Returns a symbol and its required value, if the constraint determines exactly one symbol.
fn solved(demand: &Demand) -> Option<(String, i64)> {
    let mut symbols = demand.size.symbols().filter(|symbol| !demand.fixed.contains(symbol));
    let (symbol, None) = (symbols.next()?.clone(), symbols.next()) else { return None };
    let unit = demand.size.substitute(&|other| (*other == symbol).then_some(Dim::known(1)))?;
    let number = demand.fixed.div_exact(&unit)?.as_const()?;
    let there = demand.size.substitute(&|other| (*other == symbol).then_some(Dim::known(number)))?;
    (there == demand.fixed).then(|| (symbol.to_string(), number))
}
