//! A model with inputs to run it on.

use std::sync::Arc;

use onnx_lint::graph::{
    DeclaredDim, Dimension, ElemType, Initial, Model, Node, Port, TypeKind, ValueId, order,
};
use onnx_lint::infer;
use onnx_lint::infer::eval::{Refusal, Val};
use onnx_lint::infer::execute::{Executor, Limits};
use rustc_hash::FxHashMap;

use crate::fill::{self, Fill};
use crate::random::Random;

/// Values of the inputs of a run, by name.
pub type Feeds = FxHashMap<Arc<str>, Val>;

/// A drawn model.
#[derive(Clone)]
pub struct Case {
    pub model: Model,
    /// Kind of the elements, for inputs that need particular elements.
    pub fills: FxHashMap<Arc<str>, Fill>,
    /// Whether the model was drawn with the first row of [`SIZES`].
    /// The original sizes of a near-miss are unknown.
    pub is_traced: bool,
}

/// Sizes of symbolic dimensions, in the order of [`SYMBOLS`]. Models are drawn with the first row.
pub const SIZES: [[usize; 5]; 4] = [[2, 3, 1, 2, 4], [3, 2, 4, 5, 1], [1, 1, 1, 1, 1], [2, 0, 3, 1, 5]];

/// Names of symbolic dimensions.
pub const SYMBOLS: [&str; 5] = ["A", "B", "C", "D", "E"];

/// Limits of the evaluator for a run.
pub const LIMITS: Limits = Limits { bytes: 1 << 18, work: 1 << 21 };

/// Maximum number of elements of an input; larger inputs, as in examples of rules, are not drawn.
const MOST_ELEMENTS: usize = 1 << 16;

/// Returns the size of a symbolic dimension in one row of [`SIZES`].
/// The hash of a name that is not in [`SYMBOLS`] selects its size.
pub fn size_of(name: &str, sizes: usize) -> usize {
    let sizes = SIZES[sizes % SIZES.len()];
    let known = SYMBOLS.iter().position(|symbol| *symbol == name);
    let letters = || name.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    sizes[known.unwrap_or_else(|| letters() % sizes.len())]
}

impl Case {
    /// Returns the inputs of a run at one row of [`SIZES`]; `None` if an input cannot be drawn.
    pub fn feeds(&self, sizes: usize, otherwise: &Fill, random: &mut Random) -> Option<Feeds> {
        let mut given: Vec<&Port> = self.model.graphs[self.model.main].inputs.iter().collect();
        // From IR version 4 on, a caller may override the default of an input.
        let may_replace = self.model.ir_version.is_none_or(|version| version >= 4);
        let has_default = |port: &Port| self.model.values[port.value].initial.is_some();
        given.retain(|port| !has_default(port) || may_replace && random.once_in(3));
        given
            .into_iter()
            .map(|port| {
                let name = &self.model.values[port.value].name;
                let fill = self.fills.get(name).unwrap_or(otherwise);
                Some((name.clone(), feed(port, sizes, fill, random)?))
            })
            .collect()
    }
}

fn feed(port: &Port, sizes: usize, fill: &Fill, random: &mut Random) -> Option<Val> {
    let TypeKind::Tensor { elem, shape } = &port.info.ty.as_ref()?.kind else { return None };
    let elem = ElemType::from_number((*elem)?)?;
    let size = |dim: &DeclaredDim| match dim {
        DeclaredDim::Value(size) => usize::try_from(*size).ok(),
        DeclaredDim::Param(name) => Some(size_of(name, sizes)),
        DeclaredDim::Absent => Some(SIZES[sizes % SIZES.len()][0]),
    };
    let shape: Vec<usize> = match shape {
        Some(shape) => shape.iter().map(|dim| size(&dim.dim)).collect::<Option<_>>()?,
        None => vec![2, 3],
    };
    let count = shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
    count.filter(|&count| count <= MOST_ELEMENTS)?;
    // An exact list of elements fits only tensors of its length.
    let fits = !matches!(fill, Fill::Exactly(ints) if ints.len() != shape.iter().product::<usize>());
    let fill = if fits { fill } else { &Fill::UpTo(3) };
    fill::array(elem, &shape, fill, random).map(Val::from)
}

/// Returns true if inputs, including defaults, and outputs match their declared types.
/// A model with a wrong declaration is not tested.
pub fn is_as_declared(model: &Model, ran: &Ran, sizes: usize) -> bool {
    let fits = |(port, val): (&Port, &Val)| {
        let Some(TypeKind::Tensor { elem, shape }) = port.info.ty.as_ref().map(|ty| &ty.kind) else {
            return true;
        };
        let Val::Tensor(array) = val else { return false };
        let size_fits = |(dim, size): (&Dimension, &usize)| match &dim.dim {
            DeclaredDim::Value(known) => usize::try_from(*known) == Ok(*size),
            DeclaredDim::Param(name) => size_of(name, sizes) == *size,
            DeclaredDim::Absent => true,
        };
        let shape_fits = shape.as_ref().is_none_or(|shape| {
            shape.len() == array.rank() && shape.iter().zip(array.shape()).all(size_fits)
        });
        elem.is_none_or(|elem| elem == array.elem().number()) && shape_fits
    };
    let graph = &model.graphs[model.main];
    let given = graph.inputs.iter().filter_map(|port| Some((port, ran.values.get(&port.value)?)));
    given.chain(graph.outputs.iter().zip(&ran.outputs)).all(fits)
}

/// Result of a run: the outputs, and all values of the main graph.
#[derive(Clone)]
pub struct Ran {
    pub outputs: Vec<Val>,
    pub values: FxHashMap<ValueId, Val>,
}

/// Reason why a model does not run: the operator, and its fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub op: String,
    pub why: Refusal,
}

/// Runs a model on inputs.
pub fn run(model: &Model, feeds: &Feeds) -> Result<Ran, Refused> {
    run_with(model, feeds, |_, _| None)
}

/// Runs a model on inputs, with some computed values replaced by `another`.
pub fn run_with(
    model: &Model,
    feeds: &Feeds,
    another: impl Fn(&Node, &Val) -> Option<Val>,
) -> Result<Ran, Refused> {
    let graph = &model.graphs[model.main];
    let mut executor = Executor::new(model, LIMITS);
    for port in &graph.inputs {
        let value = &model.values[port.value];
        let default = match value.initial {
            Some(Initial::Dense(tensor)) => infer::array(&model.tensors[tensor]).map(Val::from),
            _ => None,
        };
        if let Some(val) = feeds.get(&value.name).cloned().or(default) {
            executor.give(port.value, val);
        }
    }
    for id in order::sorted_or_file(model, model.main) {
        executor.run(id).map_err(|why| Refused { op: model.nodes[id].op_name(), why })?;
        for &output in model.nodes[id].outputs.iter().flatten() {
            if let Some(val) = executor.value(output).and_then(|val| another(&model.nodes[id], &val)) {
                executor.give(output, val);
            }
        }
    }
    let missing = || Refused { op: String::new(), why: Refusal::BadInput("an output is made by nothing") };
    let outputs = graph.outputs.iter().map(|port| executor.value(port.value).ok_or_else(missing));
    let outputs = outputs.collect::<Result<_, _>>()?;
    let made = graph.nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    let all: Vec<ValueId> = graph
        .inputs
        .iter()
        .map(|port| port.value)
        .chain(graph.initializers.iter().copied())
        .chain(made)
        .collect();
    let values = all.into_iter().filter_map(|value| Some((value, executor.value(value)?))).collect();
    Ok(Ran { outputs, values })
}
