//! Measurement of value ranges on calibration data.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::operand_roles::is_float;
use crate::graph::{DeclaredDim, Def, ElemType, Model, Port, Type, TypeKind, ValueId, ValueInfo};
use crate::infer::{Fact, Facts};

/// Function that runs a model on calibration data.
/// Returns the largest finite magnitude of each input and output, by name, or the reason why the model does not run.
type Run = dyn Fn(&Model) -> Result<FxHashMap<Arc<str>, f64>, String> + Send + Sync;

/// Runner of models on calibration data.
#[derive(Clone)]
pub struct Measure(Arc<Run>);

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Measure(..)")
    }
}

impl Measure {
    /// Creates a runner from a function.
    /// The function returns the largest finite magnitude of each input and output, by name.
    pub fn new(
        run: impl Fn(&Model) -> Result<FxHashMap<Arc<str>, f64>, String> + Send + Sync + 'static,
    ) -> Self {
        Measure(Arc::new(run))
    }

    /// Returns the largest finite magnitude of model inputs, and of float32 tensors that nodes produce.
    ///
    /// Only nodes of the main graph are measured.
    ///
    /// # Errors
    /// The reason why the model does not run.
    pub(super) fn measured(&self, model: &Model, facts: &Facts) -> Result<FxHashMap<ValueId, f64>, String> {
        let exposed = exposed(model, facts);
        let found = (self.0)(&exposed)?;
        let main = &exposed.graphs[exposed.main];
        let ports = main.inputs.iter().chain(&main.outputs).map(|port| port.value);
        Ok(ports.filter_map(|value| Some((value, *found.get(&model.values[value].name)?))).collect())
    }
}

/// Returns a copy of the model whose outputs are the float32 tensors of nodes in the main graph.
fn exposed(model: &Model, facts: &Facts) -> Model {
    let mut exposed = model.clone();
    let made = model.graphs[model.main].nodes.iter();
    let made = made.flat_map(|&node| model.nodes[node].outputs.iter().flatten().copied());
    let is_tensor = |value: &ValueId| matches!(facts[*value], Fact::Tensor(_)) && is_float(&facts[*value]);
    let port = |value: ValueId| {
        let shape = facts[value]
            .rank()
            .map(|rank| vec![crate::graph::Dimension { dim: DeclaredDim::Absent, denotation: None }; rank]);
        let ty = Type::from(TypeKind::Tensor { elem: Some(ElemType::Float.number()), shape });
        Port { value, info: ValueInfo { ty: Some(ty), ..ValueInfo::default() } }
    };
    let is_made = |value: &ValueId| matches!(model.values[*value].def, Def::Node { .. });
    exposed.graphs[model.main].outputs = made.filter(is_tensor).filter(is_made).map(port).collect();
    exposed
}
