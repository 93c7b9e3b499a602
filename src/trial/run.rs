//! Runs a model on given inputs, with the project's own evaluator.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{Initial, Model, order};
use crate::infer::{
    self,
    eval::{Array, Refusal, Val},
    execute::{Executor, Limits},
};

/// Why a model cannot be run at all, whatever its inputs are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unrunnable {
    /// Its result is no function of its inputs.
    NotDeterministic,
    /// The evaluator does not have an operator, or not in this form.
    NotEvaluated(String),
    /// Nothing is known of the type or rank of an input, or it is no tensor of numbers.
    Inputs(String),
}

/// Why a run has no result.
#[derive(Debug)]
pub enum Failure {
    Unrunnable(Unrunnable),
    /// The inputs do not fit the model: another set may.
    BadInput(String),
}

/// A model that a runtime has loaded: its outputs on given inputs, or why it has none.
pub type Loaded = Box<dyn FnMut(&FxHashMap<Arc<str>, Array>) -> Result<Vec<Val>, String>>;

/// Runs models as our evaluator does not: loads one, or says why not.
pub type Runtime<'r> = &'r dyn Fn(&Model) -> Result<Loaded, String>;

/// What one run may cost: examples are small.
const LIMITS: Limits = Limits { bytes: 1 << 23, work: 1 << 27 };

/// The outputs of the main graph. `inputs` are those of its inputs that have no default, by name.
pub fn run(model: &Model, inputs: &FxHashMap<Arc<str>, Array>) -> Result<Vec<Val>, Failure> {
    let graph = &model.graphs[model.main];
    let mut executor = Executor::new(model, LIMITS);
    for port in &graph.inputs {
        let value = &model.values[port.value];
        let default = || match value.initial {
            Some(Initial::Dense(tensor)) => infer::array(&model.tensors[tensor]),
            _ => None,
        };
        if let Some(array) = inputs.get(&value.name).cloned().or_else(default) {
            executor.give(port.value, array.into());
        }
    }
    for id in order::sorted_or_file(model, model.main) {
        let op = || model.nodes[id].op_name();
        executor.run(id).map_err(|refusal| match refusal {
            Refusal::NotDeterministic => Failure::Unrunnable(Unrunnable::NotDeterministic),
            Refusal::Unsupported => Failure::Unrunnable(Unrunnable::NotEvaluated(op())),
            other => Failure::BadInput(format!("{}: {other:?}", op())),
        })?;
    }
    let outputs: Option<Vec<Val>> = graph.outputs.iter().map(|port| executor.value(port.value)).collect();
    outputs.ok_or_else(|| Failure::BadInput("an output is made by nothing".into()))
}
