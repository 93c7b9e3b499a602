//! `input_names` and `output_names`: more names than inputs or outputs, and repeated names.

use crate::diag::Level;
use crate::diag::counted;
use crate::diag::rule_ids::NAME_COUNT;

use super::super::value::Value;
use super::check::{Check, Words};
use super::listed;
use super::request::Exporter;

impl<'t> Check<'_, '_, 't> {
    /// Checks the number of input names, and repeated names of inputs and outputs.
    pub fn input_names(&mut self) {
        let request = self.request;
        if request.function != "torch.onnx.export" {
            return;
        }
        let (Some(inputs), Some(outputs)) = (self.names("input_names"), self.names("output_names")) else {
            return;
        };
        let is_dynamo = request.exporter == Exporter::Dynamo;
        for (argument, names) in [("input_names", &inputs), ("output_names", &outputs)] {
            let repeated = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
            if let Some((_, name)) = repeated.filter(|_| is_dynamo) {
                self.say_raised(
                    Words::new(NAME_COUNT, request.node(argument), format!("`{argument}` repeats `{name}`"))
                        .note("the exporter raises a ValueError")
                        .help("give each input and output its own name"),
                );
                return;
            }
        }
        if let Some(both) = inputs.iter().find(|name| outputs.contains(name)).filter(|_| is_dynamo) {
            self.say(
                Words::new(
                    NAME_COUNT,
                    request.node("output_names"),
                    format!("`{both}` is the name of an input and of an output"),
                )
                .note("the file defines the name twice, and ONNX Runtime refuses it")
                .help("give each input and output its own name"),
            );
        }
        self.input_count(&inputs);
    }

    /// Checks the number of input names for the tracing exporter.
    ///
    /// The tracing exporter gives extra names to the model parameters, in order; `dynamo=True` ignores extra
    /// names.
    fn input_count(&mut self, names: &[String]) {
        let request = self.request;
        if request.exporter != Exporter::Tracing {
            return;
        }
        let Some(tensors) = request.tensors(self.machine) else { return };
        let numbers = request.inputs.iter().flatten().filter(|input| {
            // Python numbers are inputs of the traced graph.
            input.value.number().is_some() && !matches!(input.value, Value::Bool(_))
        });
        let count = tensors.len() + numbers.count();
        // A name for a flag (a boolean example) is reported by the check of the example.
        let flags = request.inputs.iter().flatten().filter(|input| matches!(input.value, Value::Bool(_)));
        if names.len() <= count + flags.count() {
            return;
        }
        let model = request.model().cloned().unwrap_or_default();
        let is_known = self.machine.is_module(&model) == Some(true) && !self.machine.is_open(&model);
        let parameters = self.machine.parameters_of(&model).len();
        let extra = names.len() - count;
        let node = request.node("input_names");
        let message = format!(
            "`input_names` has {}, but the example has {}",
            counted(names.len(), "name"),
            counted(count, "input")
        );
        let help = format!("remove {}", listed(&names[count..]));
        // `forward` needs an argument for a parameter without a default.
        let required = self.machine.forward_parameters(&model).is_some_and(|parameters| {
            parameters
                .iter()
                .any(|one| one.default.is_none() && names[count..].iter().any(|name| **name == *one.name))
        });
        if is_known && extra > parameters {
            self.say_raised(
                Words::new(NAME_COUNT, node, message).note("the exporter raises a RuntimeError").help(help),
            );
        } else if is_known && extra < parameters {
            self.say(
                Words::new(NAME_COUNT, node, message)
                    .at(Level::Warning)
                    .note("the tracing exporter gives further names to parameters of the model")
                    .help(match required {
                        true => "pass an example for each input".to_owned(),
                        false => format!("{help}, or pass an example for each input"),
                    }),
            );
        }
    }

    /// Checks the number of output names against the outputs.
    pub fn output_count(&mut self, count: usize) {
        let Some(names) = self.names("output_names") else { return };
        if self.request.exporter != Exporter::Tracing || names.len() <= count {
            return;
        }
        let node = self.request.node("output_names");
        let outputs = counted(count, "output");
        self.say(
            Words::new(
                NAME_COUNT,
                node,
                format!("`output_names` has {} names, but `forward` returns {outputs}", names.len()),
            )
            .note("the exporter raises a RuntimeError")
            .help(format!("remove {}, or return an output for each name", listed(&names[count..]))),
        );
    }
}
