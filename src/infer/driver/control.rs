//! Operators that hold graphs: the bodies are inferred with what is known around them.

use rustc_hash::FxHashSet;

use super::symbols::{FreshFor, without};
use super::{Driver, MAX_NESTING, scalar};
use crate::graph::dim::{Dim, Interval, Symbol};
use crate::graph::{AttrValue, DeclaredDim, ElemType, GraphId, Id, Node, NodeId, Type, ValueId};
use crate::infer::call::Fresh;
use crate::infer::declared;
use crate::infer::fact::Fact;
use crate::infer::fault::Fault;
use crate::infer::meet::{Conflict, meet_sizes};
use crate::infer::shape::{Shape, Size, number};

/// In loops nested deeper than this, sizes that an iteration may change are given up at once: to look at a
/// body more than once costs a power of its depth.
const MAX_PRECISE_LOOPS: usize = 3;

impl<'m> Driver<'m> {
    /// The facts of the outputs of a node that holds graphs.
    pub(super) fn control(&mut self, id: NodeId, node: &'m Node) -> Vec<Fact> {
        let unknown = vec![Fact::Unknown; node.outputs.len()];
        if self.nesting >= MAX_NESTING {
            self.limited = true;
            return unknown;
        }
        self.nesting += 1;
        let facts = match (node.domain(), &*node.op_type) {
            ("", "If") => self.branches(id, node),
            ("", "Loop") => self.iterate(id, node),
            ("", "Scan") => self.scan(id, node),
            ("", "SequenceMap") => self.map_sequence(node),
            _ => self.opaque_bodies(id, node),
        };
        self.nesting -= 1;
        facts.unwrap_or(unknown)
    }

    fn body(&self, node: &Node, attr: &str) -> Option<GraphId> {
        match node.attr(attr)? {
            AttrValue::Graph(graph) => Some(*graph),
            _ => None,
        }
    }

    fn outputs_of(&self, graph: GraphId) -> Vec<Fact> {
        let outputs = self.model.graphs[graph].outputs.iter();
        outputs.map(|port| self.facts[port.value.index()].clone()).collect()
    }

    /// Infers a body with these facts of its inputs, for what they do not say with the declared types.
    fn run_body(&mut self, graph: GraphId, inputs: &[Fact]) -> Vec<Fact> {
        for (index, port) in self.model.graphs[graph].inputs.iter().enumerate() {
            let fact = inputs.get(index).cloned().unwrap_or_default();
            let declared = port.info.ty.as_ref().filter(|_| self.options.use_declared);
            let declared = declared.map_or(Fact::Unknown, declared_numbers);
            self.seed(port.value, declared::fill(fact, &declared));
        }
        self.graph(graph);
        self.outputs_of(graph)
    }

    /// `If`: what holds in both branches, or in the one that is taken if that is known.
    fn branches(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let condition = self.fact(node.input(0)).and_then(Fact::as_ints);
        let taken = condition.and_then(|elements| number(elements.first()?));
        let (yes, no) = (self.body(node, "then_branch")?, self.body(node, "else_branch")?);
        let (yes, no) = (self.run_body(yes, &[]), self.run_body(no, &[]));
        match taken {
            Some(0) => return Some(no),
            Some(_) => return Some(yes),
            None => {}
        }
        let mut facts = Vec::new();
        for (output, (yes, no)) in yes.iter().zip(&no).enumerate() {
            if let Some(what) = kinds_conflict(yes, no) {
                self.report(id, vec![Fault::Branches { output, what }]);
            }
            facts.push(yes.join(no, &self.bounds));
        }
        Some(facts)
    }

    /// `Loop`: iteration number, condition and state go in; condition, state and scan outputs come out.
    fn iterate(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let body = self.body(node, "body")?;
        let states = self.model.graphs[body].inputs.len().checked_sub(2)?;
        let initial: Vec<Fact> =
            (0..states).map(|state| self.fact(node.input(state + 2)).cloned().unwrap_or_default()).collect();
        let before = vec![scalar(ElemType::Int64), scalar(ElemType::Bool)];
        let carry = Carry { before, after: Vec::new(), outputs_before: 1, first_input: 2 };
        let Iterated { states, rest, inner } = self.carried(id, body, initial, &carry);
        let count = self.trip_count(node, body);
        let range = count
            .as_ref()
            .map_or(Interval::SIZE, |(most, _)| Interval { lo: Some(0), hi: most.range(&self.bounds).hi });
        let exact = count.filter(|(_, exact)| *exact).map(|(count, _)| count);
        let mut facts = states;
        for fact in rest {
            let output = facts.len();
            let steps = exact.clone().or_else(|| self.steps(id, node, output, range));
            facts.push(stacked(without(fact, &inner), 0, steps));
        }
        Some(facts)
    }

    /// The symbol for the number of iterations, as the size of the first axis of a scan output.
    fn steps(&mut self, id: NodeId, node: &Node, output: usize, range: Interval) -> Size {
        node.output(output)?;
        let (model, path, in_loop) = (self.model, self.path, self.loops > 0);
        let mut fresh = FreshFor { symbols: &mut self.symbols, model, node: id, path, in_loop };
        let size = fresh.size(output, 0, range);
        self.symbols.take_ranges(&mut self.bounds);
        size
    }

    /// The greatest number of iterations, and whether it is reached: the condition is never false.
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

    /// Whether a value is an `Identity` of another.
    fn is_identity_of(&self, value: ValueId, of: ValueId) -> bool {
        self.model.producer(value).is_some_and(|(node, _)| {
            let node = &self.model.nodes[node];
            &*node.op_type == "Identity" && node.domain().is_empty() && node.input(0) == Some(of)
        })
    }

    /// `Scan`: states as in `Loop`, and slices of the scan inputs.
    fn scan(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        let body = self.body(node, "body")?;
        // Version 8 has the lengths first, and a batch axis before everything.
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
        let mut parts = Vec::new();
        for index in 0..slices {
            let whole = outer(states + index);
            let whole = if batched { sliced(&whole, 0).1 } else { whole };
            let (size, part) = sliced(&whole, axis_of("scan_input_axes", index));
            steps = meet_sizes(&steps, &size, &self.bounds).ok().flatten().or(steps);
            parts.push(part);
        }
        let carry = Carry { before: Vec::new(), after: parts, outputs_before: 0, first_input: skipped };
        let Iterated { states, rest, inner } = self.carried(id, body, initial, &carry);
        let with_batch = |fact: Fact| if batched { stacked(fact, 0, batch.clone()) } else { fact };
        let scanned = rest.into_iter().enumerate().map(|(index, fact)| {
            with_batch(stacked(without(fact, &inner), axis_of("scan_output_axes", index), steps.clone()))
        });
        Some(states.into_iter().map(with_batch).chain(scanned).collect())
    }

    /// `SequenceMap`: the body sees one element of every sequence, and tensors as they are.
    fn map_sequence(&mut self, node: &'m Node) -> Option<Vec<Fact>> {
        let body = self.body(node, "body")?;
        let inputs = node.inputs.iter().map(|&input| match self.fact(input) {
            Some(Fact::Sequence(of)) => (**of).clone(),
            Some(other) => other.clone(),
            None => Fact::Unknown,
        });
        let inputs: Vec<Fact> = inputs.collect();
        let mark = self.symbols.mark();
        self.loops += 1;
        let outputs = self.run_body(body, &inputs);
        self.loops -= 1;
        let inner = self.symbols.since(mark);
        Some(outputs.into_iter().map(|fact| Fact::sequence(without(fact.without_values(), &inner))).collect())
    }

    /// Bodies of an operator that is not control flow: the operator's own rule says its outputs.
    fn opaque_bodies(&mut self, id: NodeId, node: &'m Node) -> Option<Vec<Fact>> {
        self.loops += 1;
        for body in node.graphs() {
            self.run_body(body, &[]);
        }
        self.loops -= 1;
        let opset = self.model.opset(node.graph, "").unwrap_or(1);
        Some(self.operator(id, node, opset))
    }
}

/// How the state of an iteration lies among the inputs and outputs of its body.
struct Carry {
    /// The inputs of the body before the state, and those after it.
    before: Vec<Fact>,
    after: Vec<Fact>,
    /// How many outputs of the body come before the state.
    outputs_before: usize,
    /// The input of the node that gives the first state.
    first_input: usize,
}

/// What is known after any number of iterations.
struct Iterated {
    /// The state, without the symbols of the body.
    states: Vec<Fact>,
    /// What each iteration gives besides.
    rest: Vec<Fact>,
    /// Symbols that mean something only within an iteration.
    inner: FxHashSet<Symbol>,
}

/// A body is looked at this often: with the state as it starts, with what of it the first iteration keeps,
/// and with the element types alone of what does not come to rest.
const LOOKS: usize = 3;

impl<'m> Driver<'m> {
    /// Looks at a body until what goes in as state holds of what comes out, too.
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
                let joined = state.join(&without(fact.clone(), &inner), &self.bounds);
                if joined != *state {
                    settled = false;
                    *state = if look + 1 == LOOKS { joined.without_shapes() } else { joined };
                }
            }
            if settled {
                break;
            }
        }
        self.loops -= 1;
        for (index, (first, next)) in
            initial.iter().zip(outputs.iter().skip(carry.outputs_before)).enumerate()
        {
            if let Some(what) = kinds_conflict(first, next) {
                self.report(id, vec![Fault::Carried { input: carry.first_input + index, what }]);
            }
        }
        let rest = outputs.split_off((carry.outputs_before + states.len()).min(outputs.len()));
        Iterated { states, rest, inner }
    }

    /// Which states the body hands on as it got them.
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

/// What the declared type of an input says without names: those of another scope may mean something else.
fn declared_numbers(ty: &Type) -> Fact {
    declared::fact(ty, &mut |_, dim| match dim {
        DeclaredDim::Value(_) => super::declared_size(dim),
        _ => None,
    })
}

/// A tensor without one of its axes, and the size of that.
fn sliced(fact: &Fact, axis: i64) -> (Size, Fact) {
    let elem = fact.elem();
    let Some(dims) = fact.dims() else { return (None, Fact::tensor(elem, Shape::UNKNOWN)) };
    let at = if axis < 0 { axis + dims.len() as i64 } else { axis };
    let at = usize::try_from(at).ok().filter(|&at| at < dims.len());
    let Some(at) = at else { return (None, Fact::tensor(elem, Shape::UNKNOWN)) };
    let rest = [&dims[..at], &dims[at + 1..]].concat();
    (dims[at].clone(), Fact::tensor(elem, Shape::new(rest)))
}

/// Tensors of one shape put together along a new axis.
fn stacked(fact: Fact, axis: i64, size: Size) -> Fact {
    let elem = fact.elem();
    let Some(dims) = fact.dims() else { return Fact::tensor(elem, Shape::UNKNOWN) };
    let rank = dims.len() as i64 + 1;
    let at = usize::try_from(if axis < 0 { axis + rank } else { axis }).unwrap_or(0).min(dims.len());
    let mut dims = dims.to_vec();
    dims.insert(at, size);
    Fact::tensor(elem, Shape::new(dims))
}

/// Whether two values have different kinds or element types; shapes may differ.
fn kinds_conflict(a: &Fact, b: &Fact) -> Option<Conflict> {
    let (a, b) = (a.without_shapes(), b.without_shapes());
    a.meet(&b, &Default::default()).err()
}
