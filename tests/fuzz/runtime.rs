//! Runs models in ONNX Runtime, if it is installed.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use onnx_lint::cli::fix::verify::{self, arrays, library};
use onnx_lint::graph::{ElemType, Model, Port, ValueId, ValueInfo};
use onnx_lint::infer::eval::{Array, Val};
use ort::environment::Environment;
use ort::session::Session;

use crate::case::{Feeds, Ran};
use crate::draft::tensor_type;

/// A model loaded in ONNX Runtime, without optimizations.
pub struct Loaded(Session);

fn environment() -> Option<&'static Environment> {
    static FOUND: OnceLock<Option<Environment>> = OnceLock::new();
    FOUND.get_or_init(|| library::load().ok()).as_ref()
}

static IS_ASKED: AtomicBool = AtomicBool::new(true);

/// Enables or disables ONNX Runtime: a graph on which ONNX Runtime crashes is tested without it.
pub fn set_asked(is_asked: bool) {
    IS_ASKED.store(is_asked, Ordering::Relaxed);
}

/// Loads a model, or returns the error message.
pub fn load(model: &Model) -> Result<Loaded, String> {
    if !IS_ASKED.load(Ordering::Relaxed) {
        return Err("ONNX Runtime is not asked".to_owned());
    }
    let environment = environment().ok_or("ONNX Runtime was not found")?;
    verify::open(environment, Path::new("."), model).map(Loaded)
}

/// Returns true if a refusal is only a missing kernel for these types or this version.
pub fn is_missing(refusal: &str) -> bool {
    const MESSAGES: [&str; 9] = [
        "Failed to find kernel for",
        "Could not find an implementation",
        "NOT_IMPLEMENTED",
        "is under development and support for this is limited",
        "Unsupported model IR version",
        "not supported yet",
        "is not a registered function/op",
        // The function body of MeanVarianceNormalization in ONNX Runtime has float constants for all types. Our linter
        // already rejects mixed types in a model.
        "bound to different types (tensor(float16) and tensor(float) in node ().",
        // The function body of AffineGrid in ONNX Runtime, for float16 in opset 20, splits a 1-D tensor along axis 1.
        "axis 1 is not in valid range [-1,0]",
    ];
    MESSAGES.iter().any(|message| refusal.contains(message))
}

impl Loaded {
    /// Returns the outputs of the model, in order; `None` for values that are not tensors.
    pub fn run(&mut self, feeds: &Feeds) -> Result<Vec<Option<Val>>, String> {
        let mut inputs: Vec<(&str, &Array)> = Vec::new();
        for (name, val) in feeds {
            let Val::Tensor(array) = val else {
                return Err("an input of a type that is not made here".to_owned());
            };
            inputs.push((name, array));
        }
        let outputs = arrays::run(&mut self.0, &inputs)?;
        Ok(outputs.into_iter().map(|array| array.map(Val::from)).collect())
    }
}

/// Returns a model whose outputs are all tensors that nodes of the main graph compute.
/// Also returns the values that become outputs, in topological order.
pub fn widened(model: &Model, ran: &Ran) -> (Model, Vec<ValueId>) {
    let mut wide = model.clone();
    let main = wide.main;
    let made = model.graphs[main].nodes.iter().flat_map(|&node| model.nodes[node].outputs.iter().flatten());
    let values: Vec<(ValueId, ElemType)> = made
        .filter_map(|value| match ran.values.get(value)? {
            Val::Tensor(array) => Some((*value, array.elem())),
            _ => None,
        })
        .collect();
    let port = |&(value, elem): &(ValueId, ElemType)| Port {
        value,
        info: ValueInfo { ty: Some(tensor_type(elem, None)), ..ValueInfo::default() },
    };
    wide.graphs[main].outputs = values.iter().map(port).collect();
    (wide, values.into_iter().map(|(value, _)| value).collect())
}
