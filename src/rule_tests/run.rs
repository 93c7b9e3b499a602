//! Runs a model on given inputs with the built-in evaluator.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{Initial, Model, ValueId, order};
use crate::infer::{
    self,
    eval::{Array, Refusal, Val},
    execute::{Executor, Limits},
};

/// Reason why a model cannot be run with any inputs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unrunnable {
    /// The model is not deterministic.
    NotDeterministic,
    /// The evaluator does not support an operator, or not with its attributes, types or values.
    NotEvaluated(String),
    /// No inputs can be generated, for example for an input that is not a tensor. The text says why.
    Inputs(String),
}

impl fmt::Display for Unrunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unrunnable::NotDeterministic => f.write_str("the results of the model are not deterministic"),
            Unrunnable::NotEvaluated(op) => write!(
                f,
                "the evaluator does not support `{op}`, or not with these attributes, types or values"
            ),
            Unrunnable::Inputs(why) => f.write_str(why),
        }
    }
}

/// Reason why a run failed.
#[derive(Debug)]
pub enum Failure {
    Unrunnable(Unrunnable),
    /// The model rejects these inputs, but may accept others.
    BadInput(String),
}

/// Model loaded by a runtime: computes outputs from inputs, or returns an error.
pub type Loaded = Box<dyn FnMut(&FxHashMap<Arc<str>, Array>) -> Result<Vec<Val>, String>>;

/// External runtime: loads a model, or returns an error.
pub type Runtime<'r> = &'r dyn Fn(&Model) -> Result<Loaded, String>;

/// Limits of one run; examples are small.
const LIMITS: Limits = Limits { bytes: 1 << 23, work: 1 << 27 };

/// Runs the main graph. `inputs` has the inputs without defaults, by name.
pub fn run(model: &Model, inputs: &FxHashMap<Arc<str>, Array>) -> Result<Vec<Val>, Failure> {
    let mut executor = executed(model, inputs)?;
    let outputs = model.graphs[model.main].outputs.iter();
    let outputs: Option<Vec<Val>> = outputs.map(|port| executor.value(port.value)).collect();
    outputs.ok_or_else(|| Failure::BadInput("an output has no producer".into()))
}

/// Returns a tensor of the main graph; `None` if the run fails before it is computed.
pub fn intermediate(model: &Model, inputs: &FxHashMap<Arc<str>, Array>, of: ValueId) -> Option<Array> {
    match executed(model, inputs).ok()?.value(of)? {
        Val::Tensor(tensor) => Some(Array::clone(&tensor)),
        _ => None,
    }
}

/// Runs all nodes of the main graph.
fn executed<'m>(model: &'m Model, inputs: &FxHashMap<Arc<str>, Array>) -> Result<Executor<'m>, Failure> {
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
            other => Failure::BadInput(format!("{}: {other}", op())),
        })?;
    }
    Ok(executor)
}
