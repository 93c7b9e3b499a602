//! Inputs and outputs of a converted program, and its state.

use rustc_hash::FxHashSet;

use super::blocked;
use super::builder::Builder;
use super::part::{Part, as_pairs};
use crate::diag::Finding;
use crate::graph::{Def, Port, ValueId, ValueInfo};
use crate::read::pt2::Exported;
use crate::torch::{self, Argument, Definition};

impl Builder<'_> {
    /// Creates graph inputs for the caller's inputs, and initializers for lifted weights and buffers.
    pub fn inputs(&mut self, exported: &Exported) -> Result<(), Vec<Finding>> {
        for &input in &self.trace.block(self.trace.body).inputs {
            let said = self.trace.value(input);
            if said.definition == Definition::Lifted {
                let Some(tensor) = exported.weights.get(&*said.name) else {
                    let why = format!("no elements are stored for its weight `{}`", said.name);
                    return Err(vec![blocked::program(&why)]);
                };
                let value = self.initializer(&said.name, as_pairs(tensor.clone()));
                self.bind(input, value);
                continue;
            }
            let position = self.model.graphs[self.graph].inputs.len() as u32;
            let value = self.value(&said.name, Def::Input(position));
            self.port(input, value);
            self.bind(input, value);
        }
        Ok(())
    }

    /// Adds an input to the current graph.
    pub fn port(&mut self, of: torch::ValueId, value: ValueId) {
        let ty = self.given_type(of);
        self.learn(value, &ty);
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].inputs.push(Port { value, info });
    }

    /// Binds a value of the trace to a model input or initializer.
    fn bind(&mut self, of: torch::ValueId, given: ValueId) {
        self.given.insert(of, given);
        match self.is_complex(of) {
            true => self.halve(of, given),
            false => self.define(of, Part::Real, given),
        }
    }

    /// Declares the outputs of the program, and the new values of its mutated buffers.
    ///
    /// # Errors
    /// Returns the reason why the outputs cannot be converted, and the value that is the cause, if any.
    pub fn outputs(&mut self, exported: &Exported) -> Result<(), (Option<torch::ValueId>, String)> {
        let outputs = &self.trace.block(self.trace.body).outputs;
        let is_tensor = |output: &&Argument| match output {
            Argument::Value(value) => self.trace.value(*value).ty.tensor().is_some(),
            _ => false,
        };
        if outputs.iter().find(is_tensor).is_none() {
            return Err((None, "it does not return a tensor".to_owned()));
        }
        let mut returned = FxHashSet::default();
        for output in outputs {
            // An output that is a constant of the program (a number, `None`) is omitted from the model.
            if let Argument::Value(value) = output {
                self.returns(*value, None, &mut returned).map_err(|why| (Some(*value), why))?;
            }
        }
        // A functionalized program lists its mutations. If the program is not functionalized, `writes` has
        // recorded the mutations while in-place operators were imported.
        let said = exported.updates.iter().map(|update| (update.input, update.value));
        let seen = self.writes.outside.clone().into_iter().map(|root| (root, root));
        for (input, value) in said.chain(seen).collect::<Vec<_>>() {
            let name = self.trace.value(input).name.clone();
            if exported.state.contains(&*name) {
                self.keeps(input);
                let next = self.returns(value, Some(&format!("{name}_next")), &mut returned);
                next.map_err(|why| (Some(value), why))?;
            } else if self.trace.value(input).definition != Definition::Lifted {
                self.remarks.push(blocked::written_input(&name));
            }
        }
        let main = self.model.main;
        self.model.graphs[main].value_info.retain(|port| !returned.contains(&port.value));
        Ok(())
    }

    /// Adds an output to the current graph, with the given name if any.
    /// An Identity node is added if the value is returned twice, passed through, or renamed.
    fn returns(
        &mut self,
        value: torch::ValueId,
        name: Option<&str>,
        returned: &mut FxHashSet<ValueId>,
    ) -> Result<(), String> {
        let (mut value, ty) = self.returned(value)?;
        let is_made = matches!(self.model.values[value].def, Def::Node { .. }) && !returned.contains(&value);
        if !is_made || name.is_some() {
            value = self.onnx("Identity", vec![Some(value)], Vec::new());
        }
        if let Some(name) = name {
            self.model.values[value].name = self.fresh(name);
        }
        returned.insert(value);
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].outputs.push(Port { value, info });
        Ok(())
    }

    /// Turns a mutated buffer into an optional input: callers can pass the value of the last run.
    fn keeps(&mut self, state: torch::ValueId) {
        let Some(&value) = self.given.get(&state) else { return };
        let position = self.model.graphs[self.graph].inputs.len() as u32;
        self.model.values[value].def = Def::Input(position);
        self.port(state, value);
    }
}
