//! What a program takes and returns, and what it keeps from one run to the next.

use rustc_hash::FxHashSet;

use super::blocked;
use super::complex::{Part, as_pairs};
use super::graph::Builder;
use crate::diag::Finding;
use crate::graph::{Def, Port, ValueId, ValueInfo};
use crate::read::pt2::Exported;
use crate::torch::{self, Argument, Definition};

impl Builder<'_> {
    /// The inputs of the caller, and what was lifted into inputs as initializers.
    pub fn inputs(&mut self, exported: &Exported) -> Result<(), Vec<Finding>> {
        for &input in &self.trace.block(self.trace.body).inputs {
            let said = self.trace.value(input);
            if said.definition == Definition::Lifted {
                let Some(tensor) = exported.weights.get(&*said.name) else {
                    return Err(vec![blocked::program(&format!(
                        "there is no tensor for its input `{}`",
                        said.name
                    ))]);
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

    /// An input of the graph at hand.
    pub fn port(&mut self, of: torch::ValueId, value: ValueId) {
        let ty = self.given_type(of);
        self.learn(value, &ty);
        let info = ValueInfo { ty: Some(ty), ..ValueInfo::default() };
        self.model.graphs[self.graph].inputs.push(Port { value, info });
    }

    /// Lets a value of the trace be what the model is given for it.
    fn bind(&mut self, of: torch::ValueId, given: ValueId) {
        self.given.insert(of, given);
        match self.is_complex(of) {
            true => self.halve(of, given),
            false => self.define(of, Part::Real, given),
        }
    }

    /// What the program returns, and what it has written into besides.
    ///
    /// # Errors
    /// Why that cannot be, and of which value.
    pub fn outputs(&mut self, exported: &Exported) -> Result<(), (Option<torch::ValueId>, String)> {
        let outputs = &self.trace.block(self.trace.body).outputs;
        let is_tensor = |output: &&Argument| match output {
            Argument::Value(value) => self.trace.value(*value).ty.tensor().is_some(),
            _ => false,
        };
        if outputs.iter().find(is_tensor).is_none() {
            return Err((None, "it returns no tensor".to_owned()));
        }
        let mut returned = FxHashSet::default();
        for output in outputs {
            // Whoever calls it knows what is no tensor.
            if let Argument::Value(value) = output {
                self.returns(*value, None, &mut returned).map_err(|why| (Some(*value), why))?;
            }
        }
        // A program that was made functional says itself what is written; where it was not, its operators did.
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

    /// Makes a value an output; one that is returned twice, only passed on, or of another name, is made by a node of its own.
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

    /// Lets the caller give what a program has written in an earlier run: an input that has a default.
    fn keeps(&mut self, state: torch::ValueId) {
        let Some(&value) = self.given.get(&state) else { return };
        let position = self.model.graphs[self.graph].inputs.len() as u32;
        self.model.values[value].def = Def::Input(position);
        self.port(state, value);
    }
}
