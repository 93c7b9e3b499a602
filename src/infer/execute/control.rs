//! Executes `If`, `Loop`, `Scan` and `SequenceMap`.

use super::stack::{slice, stack};
use super::{Executor, Result, bytes_of};
use crate::graph::{AttrValue, GraphId, Node};
use crate::infer::eval::{Array, Refusal, Val};

/// Maximum number of iterations of a `Loop` or `Scan`; more are refused.
const MAX_ROUNDS: i64 = 1 << 16;

const ABSENT: Refusal = Refusal::BadInput("a required input is absent");
const NOT_A_TENSOR: Refusal = Refusal::BadInput("a value is not a tensor");

impl Executor<'_> {
    /// Computes the outputs of a node with subgraphs.
    pub(super) fn control(&mut self, node: &Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        if node.attrs.iter().any(|attr| matches!(attr.value, AttrValue::Ref { .. })) {
            return Err(Refusal::Unsupported);
        }
        match (node.domain(), &*node.op_type) {
            ("", "If") => self.branch(node, inputs),
            ("", "Loop") => self.repeat(node, inputs),
            ("", "Scan") => {
                let old = self.model.opset(node.graph, "").is_some_and(|opset| opset < 9);
                if old { self.scan_batches(node, inputs) } else { self.scan(node, inputs) }
            }
            ("", "SequenceMap") => self.map(node, inputs),
            _ => Err(Refusal::Unsupported),
        }
    }

    /// Returns an empty accumulator for this number of outputs.
    fn scanned(&self, outputs: usize) -> Scanned {
        Scanned { outputs: vec![Vec::new(); outputs], left: self.limits.bytes }
    }

    fn branch(&mut self, node: &Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        let taken = flag(given(inputs, 0)?)?;
        let body = graph(node, if taken { "then_branch" } else { "else_branch" })?;
        self.body(body, Vec::new())
    }

    fn repeat(&mut self, node: &Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        let body = graph(node, "body")?;
        let most = inputs.first().and_then(Option::as_ref).map(int).transpose()?.unwrap_or(i64::MAX);
        let mut goes_on = inputs.get(1).and_then(Option::as_ref).map(flag).transpose()?.unwrap_or(true);
        let first_state = inputs.len().min(2);
        let mut states = required(&inputs[first_state..])?;
        let scanned = self.model.graphs[body].outputs.len().checked_sub(states.len() + 1);
        let mut scanned = self.scanned(scanned.ok_or(ABSENT)?);
        let mut round = 0;
        while goes_on && round < most {
            if round == MAX_ROUNDS {
                return Err(Refusal::TooLarge);
            }
            let mut given = vec![Array::i64s(vec![], vec![round])?.into(), boolean(goes_on)?];
            given.append(&mut states);
            let mut made = self.body(body, given)?.into_iter();
            goes_on = flag(&made.next().ok_or(ABSENT)?)?;
            states.extend(made.by_ref().take(inputs.len() - first_state));
            scanned.push(made)?;
            round += 1;
        }
        for all in &scanned.outputs {
            states.push(stack(&tensors(all)?, 0)?.into());
        }
        Ok(states)
    }

    fn scan(&mut self, node: &Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        let body = graph(node, "body")?;
        let scans = node.attr("num_scan_inputs").and_then(AttrValue::as_int);
        let scans = scans.and_then(|scans| usize::try_from(scans).ok()).ok_or(ABSENT)?;
        let count = inputs.len().checked_sub(scans).ok_or(ABSENT)?;
        let mut states = required(inputs)?;
        let whole = states.split_off(count);
        let slices = whole.iter().enumerate().map(|(at, whole)| {
            let axis = listed(node, "scan_input_axes", at);
            sliced(whole, axis, listed(node, "scan_input_directions", at) == 1)
        });
        let slices: Vec<Vec<Val>> = slices.collect::<Result<_>>()?;
        let rounds = slices.first().ok_or(ABSENT)?.len();
        if rounds as i64 > MAX_ROUNDS {
            return Err(Refusal::TooLarge);
        }
        if slices.iter().any(|slices| slices.len() != rounds) {
            return Err(Refusal::BadInput("the scan inputs differ in length"));
        }
        let scanned = self.model.graphs[body].outputs.len().checked_sub(count).ok_or(ABSENT)?;
        let mut scanned = self.scanned(scanned);
        for round in 0..rounds {
            states.extend(slices.iter().map(|slices| slices[round].clone()));
            let before: Vec<Option<Vec<usize>>> = states[..count].iter().map(shape_of).collect();
            let mut made = self.body(body, std::mem::take(&mut states))?.into_iter();
            states.extend(made.by_ref().take(count));
            if states.iter().map(shape_of).ne(before) {
                return Err(Refusal::BadInput("the shape of a Scan state changes between iterations"));
            }
            scanned.push(made)?;
        }
        for (at, mut all) in scanned.outputs.into_iter().enumerate() {
            if listed(node, "scan_output_directions", at) == 1 {
                all.reverse();
            }
            states.push(stack(&tensors(&all)?, listed(node, "scan_output_axes", at))?.into());
        }
        Ok(states)
    }

    /// Executes `Scan` of opset 8, which has sequence lengths as its first input and a leading batch axis.
    ///
    /// Only calls without sequence lengths are supported.
    fn scan_batches(&mut self, node: &Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        if inputs.first().is_none_or(Option::is_some) {
            return Err(Refusal::Unsupported);
        }
        let batches = required(&inputs[1..])?
            .iter()
            .map(|input| sliced(input, 0, false))
            .collect::<Result<Vec<_>>>()?;
        let count = batches.first().ok_or(ABSENT)?.len();
        let mut made = self.scanned(node.outputs.len());
        for batch in 0..count {
            let given = batches.iter().map(|items| items.get(batch).cloned());
            let outputs = self.scan(node, &given.collect::<Vec<_>>())?;
            made.push(outputs.into_iter())?;
        }
        made.outputs.iter().map(|all| Ok(stack(&tensors(all)?, 0)?.into())).collect()
    }

    fn map(&mut self, node: &Node, inputs: &[Option<Val>]) -> Result<Vec<Val>> {
        let body = graph(node, "body")?;
        let inputs = required(inputs)?;
        let Some(Val::Sequence(first)) = inputs.first() else {
            return Err(Refusal::BadInput("the first input is not a sequence"));
        };
        let mut made = self.scanned(self.model.graphs[body].outputs.len());
        for at in 0..first.len() {
            let item = |input: &Val| match input {
                Val::Sequence(items) => items.get(at).cloned().ok_or(ABSENT),
                other => Ok(other.clone()),
            };
            let outputs = self.body(body, inputs.iter().map(item).collect::<Result<_>>()?)?;
            made.push(outputs.into_iter())?;
        }
        Ok(made.outputs.into_iter().map(Val::Sequence).collect())
    }
}

/// Outputs accumulated over the iterations of a loop, a sequence or a batch.
struct Scanned {
    /// For each output, one value per iteration.
    outputs: Vec<Vec<Val>>,
    /// Remaining byte budget of all outputs together.
    left: usize,
}

impl Scanned {
    /// Appends the outputs of an iteration; fails if the outputs exceed the byte budget.
    fn push(&mut self, made: impl Iterator<Item = Val>) -> Result<()> {
        for (all, one) in self.outputs.iter_mut().zip(made) {
            if let Val::Tensor(array) = &one {
                self.left = self.left.checked_sub(bytes_of(array)).ok_or(Refusal::TooLarge)?;
            }
            all.push(one);
        }
        Ok(())
    }
}

fn graph(node: &Node, attr: &str) -> Result<GraphId> {
    match node.attr(attr) {
        Some(AttrValue::Graph(graph)) => Ok(*graph),
        _ => Err(Refusal::BadInput("a required subgraph is missing")),
    }
}

/// Returns an entry of an attribute that lists axes or directions; 0 if the entry is absent.
fn listed(node: &Node, attr: &str, at: usize) -> i64 {
    node.attr(attr).and_then(AttrValue::as_ints).and_then(|list| list.get(at)).copied().unwrap_or(0)
}

fn given(inputs: &[Option<Val>], at: usize) -> Result<&Val> {
    inputs.get(at).and_then(Option::as_ref).ok_or(ABSENT)
}

fn required(inputs: &[Option<Val>]) -> Result<Vec<Val>> {
    inputs.iter().map(|input| input.clone().ok_or(ABSENT)).collect()
}

fn tensor(value: &Val) -> Result<&Array> {
    if let Val::Tensor(array) = value { Ok(array) } else { Err(NOT_A_TENSOR) }
}

fn shape_of(value: &Val) -> Option<Vec<usize>> {
    tensor(value).ok().map(|array| array.shape().to_vec())
}

fn tensors(values: &[Val]) -> Result<Vec<&Array>> {
    values.iter().map(tensor).collect()
}

fn flag(value: &Val) -> Result<bool> {
    tensor(value)?.as_bools()?.first().copied().ok_or(ABSENT)
}

fn int(value: &Val) -> Result<i64> {
    tensor(value)?.as_i64s()?.first().copied().ok_or(ABSENT)
}

fn boolean(value: bool) -> Result<Val> {
    Ok(Array::bools(vec![], vec![value])?.into())
}

/// Returns the slices of a tensor along an axis, in reverse order if `backward`.
fn sliced(whole: &Val, axis: i64, backward: bool) -> Result<Vec<Val>> {
    let mut slices: Vec<Val> = slice(tensor(whole)?, axis)?.into_iter().map(Val::from).collect();
    if backward {
        slices.reverse();
    }
    Ok(slices)
}
