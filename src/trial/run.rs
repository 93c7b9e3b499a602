//! Runs a model on given inputs, node by node, with the project's own evaluator.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{AttrValue, Model, Node, ValueId, order};
use crate::infer::{
    self,
    eval::{self, Array, Attr, Budget, Refusal, Val},
};
use crate::schema::{self, Determinism};

/// Why a model cannot be run at all, whatever its inputs are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unrunnable {
    /// Its result is no function of its inputs.
    NotDeterministic,
    /// It has a body or a local function.
    HasBodies,
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

/// What one run may cost: examples are small.
const BUDGET: Budget = Budget { elements: 1 << 20, work: 1 << 26 };

/// The outputs of the main graph. `inputs` are those of its inputs that have no default, by name.
pub fn run(model: &Model, inputs: &FxHashMap<Arc<str>, Array>) -> Result<Vec<Val>, Failure> {
    let graph = &model.graphs[model.main];
    let mut values: FxHashMap<ValueId, Val> = FxHashMap::default();
    for (id, value) in model.values.iter() {
        let constant = model.constant(id).and_then(infer::array);
        if let Some(array) = inputs.get(&value.name).cloned().or(constant) {
            values.insert(id, array.into());
        }
    }
    for id in order::sorted_or_file(model, model.main) {
        let node = &model.nodes[id];
        let outputs = step(model, node, &values)?;
        for (&value, output) in node.outputs.iter().zip(outputs) {
            values.extend(value.map(|value| (value, output)));
        }
    }
    let output = |value| values.get(&value).cloned();
    let outputs: Option<Vec<Val>> = graph.outputs.iter().map(|port| output(port.value)).collect();
    outputs.ok_or_else(|| Failure::BadInput("an output is made by nothing".into()))
}

fn step(model: &Model, node: &Node, values: &FxHashMap<ValueId, Val>) -> Result<Vec<Val>, Failure> {
    if node.graphs().next().is_some()
        || model.functions.iter().any(|f| f.name.as_deref() == Some(&*node.op_type))
    {
        return Err(Failure::Unrunnable(Unrunnable::HasBodies));
    }
    let not_evaluated = || Failure::Unrunnable(Unrunnable::NotEvaluated(node.op_name()));
    let opset = model.opset(node.graph, node.domain()).and_then(|opset| u16::try_from(opset).ok());
    let opset = opset.ok_or_else(not_evaluated)?;
    let schema = schema::lookup(node.domain(), &node.op_type, opset).ok_or_else(not_evaluated)?;
    if schema.determinism != Determinism::Deterministic && node.op_type.starts_with("Random") {
        return Err(Failure::Unrunnable(Unrunnable::NotDeterministic));
    }
    let missing = || Failure::BadInput(format!("{} takes what nothing makes", node.op_name()));
    let inputs = node.inputs.iter().map(|input| match input {
        Some(value) => values.get(value).cloned().map(Some).ok_or_else(missing),
        None => Ok(None),
    });
    let inputs: Vec<Option<Val>> = inputs.collect::<Result<_, _>>()?;
    let call = eval::Call {
        domain: node.domain(),
        op: &node.op_type,
        version: schema.since,
        opset,
        attrs: &Attrs { model, node },
        outputs: node.outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1),
    };
    eval::eval(&call, &inputs, BUDGET).map_err(|refusal| match refusal {
        Refusal::NotDeterministic => Failure::Unrunnable(Unrunnable::NotDeterministic),
        Refusal::Unsupported => not_evaluated(),
        other => Failure::BadInput(format!("{}: {other:?}", node.op_name())),
    })
}

struct Attrs<'a> {
    model: &'a Model,
    node: &'a Node,
}

impl eval::Attrs for Attrs<'_> {
    fn get(&self, name: &str) -> Option<Attr<'_>> {
        Some(match self.node.attr(name)? {
            AttrValue::Tensor(id) => Attr::Tensor(Arc::new(infer::array(&self.model.tensors[*id])?)),
            value => infer::attr(value)?,
        })
    }
}
