//! Shapes of results, inferred from the lowered operator.
//!
//! TorchScript code records no types. Each call is lowered as a program of its own, and the inference of ONNX
//! operators determines the shapes of its results, also for dynamic sizes.

use rustc_hash::FxHashMap;

use super::recorder::{Recorder, named, tensor};
use super::shapes::Sizes;
use crate::diag::Finding;
use crate::graph::dim::{Bounds, Dim};
use crate::import::import;
use crate::import::part::is_complex;
use crate::infer::{self, Facts};
use crate::read::pt2::Exported;
use crate::rules::registry::RuleSet;
use crate::torch::{Argument, Definition, Input, Op, Type, ValueId};

/// Maximum number of elements of a constant that is passed to inference.
const MAX_ELEMENTS: i64 = 64;

/// Inference of result shapes.
pub struct Oracle<'r> {
    rules: &'r RuleSet,
    /// Shapes of the results, by call.
    known: FxHashMap<String, Vec<Option<Sizes>>>,
}

impl<'r> Oracle<'r> {
    /// Returns an oracle that lowers by these rules.
    pub fn new(rules: &'r RuleSet) -> Self {
        Oracle { rules, known: FxHashMap::default() }
    }

    /// Returns the shapes of the results of a call; `types` are the result types without shapes.
    ///
    /// # Errors
    /// Returns the reasons why the call cannot be lowered.
    pub fn shapes(
        &mut self,
        recorder: &Recorder,
        op: &Op,
        inputs: &[Input],
        types: &[Type],
    ) -> Result<Vec<Option<Sizes>>, Vec<Finding>> {
        let key = key(recorder, op, inputs, types);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let shapes = self.inferred(recorder, op, inputs, types)?;
        self.known.insert(key, shapes.clone());
        Ok(shapes)
    }

    fn inferred(
        &self,
        recorder: &Recorder,
        op: &Op,
        inputs: &[Input],
        types: &[Type],
    ) -> Result<Vec<Option<Sizes>>, Vec<Finding>> {
        let mut alone = Recorder::new(None);
        (alone.place, alone.scope) = (recorder.place.clone(), recorder.scope.clone());
        let mut copies = FxHashMap::default();
        let copied = inputs.iter().map(|input| Input {
            name: input.name.clone(),
            argument: copy(&input.argument, recorder, &mut alone, &mut copies),
        });
        let copied = copied.collect();
        let results = alone.node(op.clone(), copied, types.to_vec());
        alone.finish(results.into_iter().map(Argument::Value).collect());
        let exported =
            Exported { trace: alone.trace, weights: alone.weights, state: alone.state, updates: Vec::new() };
        let (model, _) = import(&exported, self.rules)?;
        let facts = infer::infer(&model, infer::Options::default());
        let outputs = &model.graphs[model.main].outputs;
        let shapes = outputs.iter().zip(types).map(|(port, ty)| {
            let dims = facts[port.value].dims()?;
            let mut sizes: Sizes =
                dims.iter().map(|size| size.clone().filter(|dim| is_shared(dim, &facts))).collect();
            if ty.elem().is_some_and(is_complex) {
                sizes.pop();
            }
            Some(sizes)
        });
        Ok(shapes.collect())
    }
}

/// Returns true if a size has only symbols that the whole program shares.
fn is_shared(dim: &Dim, facts: &Facts) -> bool {
    !dim.symbols().any(|symbol| facts.has_made(symbol) || facts.is_free(symbol))
}

/// Copies an argument to another program; values become inputs or constants of that program.
fn copy(
    argument: &Argument,
    from: &Recorder,
    to: &mut Recorder,
    copies: &mut FxHashMap<ValueId, Argument>,
) -> Argument {
    match argument {
        Argument::List(members) => {
            Argument::List(members.iter().map(|member| copy(member, from, to, copies)).collect())
        }
        Argument::Value(value) => {
            if let Some(copy) = copies.get(value) {
                return copy.clone();
            }
            let copy = copy_value(*value, from, to);
            copies.insert(*value, copy.clone());
            copy
        }
        other => other.clone(),
    }
}

fn copy_value(value: ValueId, from: &Recorder, to: &mut Recorder) -> Argument {
    let it = from.trace.value(value);
    if it.definition == Definition::Lifted
        && let Some(weight) = from.weights.get(&*it.name).filter(|weight| is_small(&weight.dims))
    {
        return Argument::Value(to.lift(&it.name, weight.clone()));
    }
    let dim = from.dim_of_argument(&Argument::Value(value));
    // The size of an axis stands for the integer. A size is never negative.
    if let Some(dim) = dim.filter(|dim| dim.at_least(&Dim::known(0), &Bounds::default()).is_always()) {
        let ty = tensor(Some(crate::graph::ElemType::Float), Some(&[Some(dim)]));
        let carrier = to.input("size", ty);
        let inputs = vec![named("self", Argument::Value(carrier)), named("dim", Argument::Int(0))];
        return Argument::Value(to.node(Op::parse("aten::sym_size.int"), inputs, vec![Type::Int])[0]);
    }
    Argument::Value(to.input(&it.name, it.ty.clone()))
}

/// Returns true if a constant may be passed to inference.
fn is_small(dims: &[i64]) -> bool {
    dims.iter()
        .try_fold(1i64, |count, dim| count.checked_mul(*dim))
        .is_some_and(|count| count <= MAX_ELEMENTS)
}

/// Returns a text that is equal for calls with equal results.
fn key(recorder: &Recorder, op: &Op, inputs: &[Input], types: &[Type]) -> String {
    fn shown(recorder: &Recorder, argument: &Argument) -> String {
        match argument {
            Argument::List(members) => {
                format!(
                    "[{}]",
                    members.iter().map(|member| shown(recorder, member)).collect::<Vec<_>>().join(", ")
                )
            }
            Argument::Value(value) => {
                let it = recorder.trace.value(*value);
                let dim = recorder.dim_of_argument(argument);
                let weight = recorder.weights.get(&*it.name).filter(|_| it.definition == Definition::Lifted);
                let elements = weight.filter(|weight| is_small(&weight.dims)).map(|weight| &weight.data);
                format!("{:?} {dim:?} {elements:?}", it.ty)
            }
            other => format!("{other:?}"),
        }
    }
    let inputs = inputs.iter().map(|input| format!("{:?}={}", input.name, shown(recorder, &input.argument)));
    format!("{op}.{} {} {types:?}", op.overload, inputs.collect::<Vec<_>>().join(" "))
}
