//! `Loop` and `Scan`: subgraphs that run repeatedly with loop-carried state.

use rustc_hash::FxHashSet;

use super::control::kinds_conflict;
use super::declarations::declared_fact;
use super::symbols::{FreshFor, without};
use super::{Driver, scalar};
use crate::graph::dim::{Dim, Interval, Symbol};
use crate::graph::{AttrValue, ElemType, GraphId, Id, Node, NodeId, ValueId};
use crate::infer::call::Fresh;
use crate::infer::declared::fill;
use crate::infer::eval;
use crate::infer::fact::Fact;
use crate::infer::fault::{Expected, Fault};
use crate::infer::meet::meet_sizes;
use crate::infer::shape::{Shape, Size, number};

/// In loops nested deeper than this depth, sizes that an iteration may change become unknown at once.
/// Inferring each subgraph several times costs time exponential in the depth.
const MAX_PRECISE_LOOPS: usize = 3;

impl<'m> Driver<'m> {
    /// Infers `Loop`.
    /// The subgraph maps iteration number, condition and state to condition, state and scan outputs.
    pub(super) fn iterate(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let body = self.body(node, "body")?;
        let states = self.model.graphs[body].inputs.len().checked_sub(2)?;
        let initial: Vec<Fact> =
            (0..states).map(|state| self.fact(node.input(state + 2)).cloned().unwrap_or_default()).collect();
        let before = vec![scalar(ElemType::Int64), scalar(ElemType::Bool)];
        let carry =
            Carry { before, after: Vec::new(), outputs_before: 1, first_input: 2, keeps_shapes: false };
        self.compare_rank(id, 1, body, 1, 0);
        let Iterated { states, rest, inner } = self.carried(id, body, initial, &carry);
        self.check_condition(id, body);
        let steps = self.steps(id, node, body, states.len());
        let scanned = rest.into_iter().map(|fact| stacked(without(fact, &inner), 0, steps.clone()));
        Some(states.into_iter().chain(scanned).collect())
    }

    /// Returns the number of iterations of a `Loop`.
    ///
    /// The number is the trip count, if known and the condition is never false; otherwise, a new symbol for
    /// axis 0 of the first scan output, or `None` without scan outputs.
    fn steps(&mut self, id: NodeId, node: &Node, body: GraphId, first: usize) -> Size {
        let count = self.trip_count(node, body);
        if let Some((count, true)) = count {
            return Some(count);
        }
        let output = (first..node.outputs.len()).find(|&output| node.output(output).is_some())?;
        let hi = count.and_then(|(most, _)| most.range(&self.bounds).hi);
        let (model, path, in_loop) = (self.model, self.path, self.loops > 0);
        let mut fresh = FreshFor { symbols: &mut self.symbols, model, node: id, path, in_loop };
        let size = fresh.size(output, 0, Interval { lo: Some(0), hi });
        self.symbols.take_ranges(&mut self.bounds);
        size
    }

    /// Returns the maximum number of iterations, and whether it is exact (the condition is never false).
    fn trip_count(&self, node: &Node, body: GraphId) -> Option<(Dim, bool)> {
        let holds = |fact: &Fact| fact.as_ints().and_then(|ints| number(ints.first()?)) == Some(1);
        let graph = &self.model.graphs[body];
        let (taken_in, given_out) = (graph.inputs.get(1)?.value, graph.outputs.first()?.value);
        let starts = self.fact(node.input(1)).is_none_or(holds);
        let goes_on = taken_in == given_out
            || holds(&self.facts[given_out.index()])
            || self.is_identity_of(given_out, taken_in);
        let most = self.fact(node.input(0))?.as_ints()?.into_iter().next()??;
        let most = match most.at_least(&Dim::known(0), &self.bounds).is_always() {
            true => most,
            false => most.maximum(0)?,
        };
        Some((most, starts && goes_on))
    }

    /// Returns true if `value` is the output of an `Identity` node whose input is `of`.
    fn is_identity_of(&self, value: ValueId, of: ValueId) -> bool {
        self.model.producer(value).is_some_and(|(node, _)| {
            let node = &self.model.nodes[node];
            node.is("Identity") && node.input(0) == Some(of)
        })
    }

    /// Infers `Scan`. The subgraph maps state and slices of the scan inputs to state and scan outputs.
    pub(super) fn scan(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let body = self.body(node, "body")?;
        // In version 8 of `Scan`, the first input contains the sequence lengths, and all states and scan
        // inputs and outputs have a leading batch axis.
        let batched = self.model.opset(node.graph, "").is_some_and(|opset| opset < 9);
        let skipped = usize::from(batched);
        let slices = usize::try_from(node.attr("num_scan_inputs")?.as_int()?).ok()?;
        let states = node.inputs.len().checked_sub(skipped + slices)?;
        let outer = |at: usize| self.fact(node.input(at + skipped)).cloned().unwrap_or_default();
        let batch = if batched { outer(0).shape().and_then(|shape| shape.dim(0)).cloned() } else { None };
        let axes = |attr: &str| node.attr(attr).and_then(AttrValue::as_ints).unwrap_or_default();
        let axis_of = |attr: &str, index: usize| axes(attr).get(index).copied().unwrap_or(0);
        let initial: Vec<Fact> =
            (0..states).map(|at| if batched { sliced(&outer(at), 0).1 } else { outer(at) }).collect();
        let mut steps: Size = None;
        // Input and axis of the first known number of steps.
        let mut first = (0, 0);
        let mut unequal = Vec::new();
        let mut parts = Vec::new();
        for index in 0..slices {
            let whole = outer(states + index);
            let whole = if batched { sliced(&whole, 0).1 } else { whole };
            let axis = axis_of("scan_input_axes", index);
            let (size, part) = sliced(&whole, axis);
            let axis = whole.rank().and_then(|rank| eval::index(axis, rank)).unwrap_or(0);
            let place = (skipped + states + index, skipped + axis);
            first = if steps.is_some() { first } else { place };
            steps = match meet_sizes(&steps, &size, &self.bounds) {
                Ok(met) => met.or(steps),
                Err(dims) => {
                    let (inputs, axes) = ((first.0, place.0), (first.1, place.1));
                    unequal.push(Fault::SizeMismatch { inputs, axes, dims });
                    steps
                }
            };
            parts.push(part);
        }
        self.report(id, unequal);
        for input in 0..if batched { 0 } else { states + slices } {
            self.compare_rank(id, input, body, input, usize::from(input >= states));
        }
        let carry = Carry {
            before: Vec::new(),
            after: parts,
            outputs_before: 0,
            first_input: skipped,
            keeps_shapes: true,
        };
        let Iterated { states, rest, inner } = self.carried(id, body, initial, &carry);
        self.check_output_axes(id, axes("scan_output_axes"), &rest);
        let with_batch = |fact: Fact| if batched { stacked(fact, 0, batch.clone()) } else { fact };
        let scanned = rest.into_iter().enumerate().map(|(index, fact)| {
            with_batch(stacked(without(fact, &inner), axis_of("scan_output_axes", index), steps.clone()))
        });
        Some(states.into_iter().map(with_batch).chain(scanned).collect())
    }
}

/// Layout of the inputs and outputs of a subgraph around its loop-carried state.
struct Carry {
    /// Facts of the subgraph inputs that precede the state.
    before: Vec<Fact>,
    /// Facts of the subgraph inputs that follow the state.
    after: Vec<Fact>,
    /// Number of subgraph outputs before the state.
    outputs_before: usize,
    /// Index of the node input with the first initial state.
    first_input: usize,
    /// Whether states keep their shape, as `Scan` requires.
    keeps_shapes: bool,
}

/// Facts that hold after any number of iterations.
struct Iterated {
    /// Facts of the states, without symbols created in the subgraph.
    states: Vec<Fact>,
    /// Facts of the scan outputs of one iteration.
    rest: Vec<Fact>,
    /// Symbols that are only meaningful within one iteration.
    inner: FxHashSet<Symbol>,
}

/// Maximum number of passes over a subgraph.
/// The first pass starts with facts of the initial states, and the second with facts that also hold after one
/// iteration. For `Loop`, the third pass starts with only the kinds and element types of changing states.
const LOOKS: usize = 3;

impl<'m> Driver<'m> {
    /// Infers a subgraph until the state facts reach a fixed point, at most [`LOOKS`] times.
    fn carried(&mut self, id: NodeId, body: GraphId, initial: Vec<Fact>, carry: &Carry) -> Iterated {
        let kept = self.unchanged(body, carry, initial.len());
        let shapes = self.loops < MAX_PRECISE_LOOPS;
        let start = |(fact, kept): (&Fact, &bool)| match (kept, shapes) {
            (true, _) => fact.clone(),
            (false, true) => fact.clone().without_values(),
            (false, false) => fact.without_shapes(),
        };
        let mut states: Vec<Fact> = initial.iter().zip(&kept).map(start).collect();
        let mut outputs = Vec::new();
        let mut inner = FxHashSet::default();
        self.loops += 1;
        for look in 1..=LOOKS {
            let inputs = [&carry.before[..], &states, &carry.after].concat();
            let mark = self.symbols.mark();
            outputs = self.run_body(body, &inputs);
            inner = self.symbols.since(mark);
            let mut settled = true;
            for (state, fact) in states.iter_mut().zip(outputs.iter().skip(carry.outputs_before)) {
                let fact = without(fact.clone(), &inner);
                let next = match carry.keeps_shapes {
                    true => fill(state.clone(), &fact.without_values()),
                    false => state.join(&fact, &self.bounds),
                };
                settled &= next == *state;
                *state = next;
            }
            // For a Scan, the facts hold after one pass, and later passes only refine them, so deeply
            // nested Scans have only one pass.
            if settled || carry.keeps_shapes && !shapes {
                break;
            }
            if look + 1 == LOOKS && !carry.keeps_shapes {
                let changing = states.iter_mut().zip(&kept).filter(|(_, kept)| !**kept);
                changing.for_each(|(state, _)| *state = state.without_shapes());
            }
        }
        self.loops -= 1;
        for (index, (first, next)) in
            initial.iter().zip(outputs.iter().skip(carry.outputs_before)).enumerate()
        {
            let shapes = || first.clone().without_values().meet(&next.clone().without_values(), &self.bounds);
            let conflict = kinds_conflict(first, next);
            if let Some(what) = conflict.or_else(|| shapes().err().filter(|_| carry.keeps_shapes)) {
                self.report(id, vec![Fault::Carried { input: carry.first_input + index, what }]);
            }
        }
        for (state, last) in states.iter_mut().zip(outputs.iter().skip(carry.outputs_before)) {
            // If only the initial state is optional, the state has the type that the subgraph returns.
            if let (Fact::Optional(of), false) = (&*state, matches!(last, Fact::Optional(_))) {
                *state = (**of).clone();
            }
        }
        let rest = outputs.split_off((carry.outputs_before + states.len()).min(outputs.len()));
        Iterated { states, rest, inner }
    }

    /// Reports a node input whose rank contradicts the declared rank of a subgraph input.
    ///
    /// The subgraph input has `sliced` axes fewer than the node input. ONNX Runtime does not load a model
    /// whose ranks contradict each other.
    fn compare_rank(&mut self, id: NodeId, input: usize, body: GraphId, port: usize, sliced: usize) {
        let (node, graph) = (&self.model.nodes[id], &self.model.graphs[body]);
        let declared = graph.inputs.get(port).and_then(|port| declared_fact(port.info.ty.as_ref()?).rank());
        let rank = self.fact(node.input(input)).and_then(Fact::rank);
        if let (Some(rank), Some(declared)) = (rank, declared)
            && rank != declared + sliced
            && self.options.use_declared
        {
            let expected = Expected::Exactly(declared + sliced);
            self.report(id, vec![Fault::Rank { input, rank, expected }]);
        }
    }

    /// Reports a `Loop` whose subgraph returns a condition that is not a bool.
    fn check_condition(&mut self, id: NodeId, body: GraphId) {
        let condition = self.model.graphs[body].outputs.first().map(|port| port.value);
        let elem = self.fact(condition).and_then(Fact::elem);
        if elem.is_some_and(|elem| elem != ElemType::Bool) {
            let (name, why) = ("body", "must return a bool, the condition, as its first output");
            self.report(id, vec![Fault::Value { name, why }]);
        }
    }

    /// Reports an axis of `scan_output_axes` that the scan output lacks.
    ///
    /// A scan output has one axis more than its slices.
    fn check_output_axes(&mut self, id: NodeId, axes: &[i64], slices: &[Fact]) {
        let lacks = |(&axis, slice): (&i64, &Fact)| {
            let rank = slice.rank().and_then(|rank| i64::try_from(rank).ok()).map(|rank| rank + 1);
            rank.is_some_and(|rank| axis < -rank || axis >= rank)
        };
        if axes.iter().zip(slices).any(lacks) {
            let (name, why) = ("scan_output_axes", "must contain axes of the scan outputs");
            self.report(id, vec![Fault::Value { name, why }]);
        }
    }

    /// Returns, for each state, whether the subgraph passes it through unchanged.
    fn unchanged(&self, body: GraphId, carry: &Carry, states: usize) -> Vec<bool> {
        let graph = &self.model.graphs[body];
        let value_in = |state: usize| graph.inputs.get(carry.before.len() + state).map(|port| port.value);
        let value_out = |state: usize| graph.outputs.get(carry.outputs_before + state).map(|port| port.value);
        let same = |state| match (value_in(state), value_out(state)) {
            (Some(taken_in), Some(given_out)) => {
                taken_in == given_out || self.is_identity_of(given_out, taken_in)
            }
            _ => false,
        };
        (0..states).map(same).collect()
    }
}

/// Removes an axis from a tensor fact; also returns its size.
fn sliced(fact: &Fact, axis: i64) -> (Size, Fact) {
    let elem = fact.elem();
    let Some(dims) = fact.dims() else { return (None, Fact::tensor(elem, Shape::UNKNOWN)) };
    let at = if axis < 0 { axis + dims.len() as i64 } else { axis };
    let at = usize::try_from(at).ok().filter(|&at| at < dims.len());
    let Some(at) = at else { return (None, Fact::tensor(elem, Shape::UNKNOWN)) };
    let rest = [&dims[..at], &dims[at + 1..]].concat();
    (dims[at].clone(), Fact::tensor(elem, Shape::new(rest)))
}

/// Returns the fact of a stack of `size` tensors, each with this fact, along a new axis.
fn stacked(fact: Fact, axis: i64, size: Size) -> Fact {
    let elem = fact.elem();
    let Some(dims) = fact.dims() else { return Fact::tensor(elem, Shape::UNKNOWN) };
    let rank = dims.len() as i64 + 1;
    let at = usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or(0).min(dims.len());
    let mut dims = dims.to_vec();
    dims.insert(at, size);
    Fact::tensor(elem, Shape::new(dims))
}
