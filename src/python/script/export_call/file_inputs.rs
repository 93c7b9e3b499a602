//! Inputs and outputs of the exported file, with the sizes that the file fixes.

use std::rc::Rc;

use super::super::binding::ParameterKind;
use super::super::export::{PROGRAM_ARGS, PROGRAM_KEYWORDS};
use super::super::model_file::{FileInput, ModelFile};
use super::super::tensor::Dim;
use super::super::value::Value;
use super::check::Check;
use super::request::{Exporter, add_tensors};

/// Dynamic axes of an input; `None` if each axis may be dynamic.
type Axes = Option<Vec<usize>>;

impl<'t> Check<'_, '_, 't> {
    /// Returns the model in the exported file, if it is a module; `outputs` is the result of `forward`.
    pub fn model_file(&mut self, outputs: &Value<'t>) -> Option<ModelFile<'t>> {
        let request = self.request;
        let model = request.model().cloned()?;
        let class = self.machine.library_class(&model).unwrap_or_default();
        let is_module = self.machine.is_module(&model) == Some(true) && !class.contains(".jit.");
        let is_onnx = request.function == "torch.onnx.export" && request.call.is_complete;
        if is_onnx && class == "torch.export.ExportedProgram" {
            let export = (request.call.file, request.call.node);
            let inputs = self.program_inputs(&model)?;
            return Some(ModelFile { inputs, is_complete: false, outputs: None, export });
        }
        if !is_onnx || !is_module {
            return None;
        }
        let outputs = self.file_outputs(outputs);
        let export = (request.call.file, request.call.node);
        let (inputs, is_complete) = self.file_inputs(&model, &class).unwrap_or_default();
        Some(ModelFile { inputs, is_complete, outputs, export })
    }

    /// Returns the inputs of the file of an exported program.
    ///
    /// Python numbers of the example are constants, and no inputs.
    fn program_inputs(&self, program: &Value<'t>) -> Option<Vec<FileInput>> {
        let part = |name: &str| self.machine.attribute_of(program, name);
        let Value::Tuple(positional) = part(PROGRAM_ARGS)? else { return None };
        let keywords = match part(PROGRAM_KEYWORDS)? {
            Value::None => vec![],
            keywords => self.machine.entries(&keywords)?,
        };
        let values: Vec<Value<'t>> =
            positional.iter().cloned().chain(keywords.into_iter().map(|(_, value)| value)).collect();
        let names = self.names("input_names").filter(|names| names.len() == values.len())?;
        let is_number = |value: &Value| matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_));
        // A name after a constant may be that of another input.
        let constants = values.iter().position(is_number).unwrap_or(values.len());
        let is_known = |(at, value): (usize, &Value<'t>)| match at < constants {
            true => value.tensor().is_some(),
            false => is_number(value),
        };
        if !values.iter().enumerate().all(is_known) {
            return None;
        }
        let input = |(name, value): (&String, &Value<'t>)| FileInput {
            name: Rc::from(name.as_str()),
            shape: None,
            dtype: value.tensor().and_then(|tensor| tensor.dtype),
            is_dropped: is_number(value),
        };
        Some(names.iter().zip(&values).map(input).collect())
    }

    /// Returns the names of the outputs of the file: one for each tensor that `forward` returns.
    fn file_outputs(&self, outputs: &Value<'t>) -> Option<Vec<Option<Rc<str>>>> {
        let is_known = matches!(self.request.exporter, Exporter::Tracing | Exporter::Dynamo);
        if !is_known || self.machine.may_replace_forward() {
            return None;
        }
        let mut tensors = vec![];
        add_tensors(self.machine, outputs, |_| false, &mut tensors, 0)?;
        let names = self.names("output_names").filter(|names| names.len() == tensors.len());
        Some(match names {
            Some(names) => names.iter().map(|name| Some(Rc::from(name.as_str()))).collect(),
            None => tensors.iter().map(|_| None).collect(),
        })
    }

    /// Returns the inputs of the file, if all are known, and whether these are all.
    fn file_inputs(&mut self, model: &Value<'t>, class: &str) -> Option<(Vec<FileInput>, bool)> {
        let request = self.request;
        let parameters = self.machine.forward_parameters(model);
        let inputs = request.inputs.as_ref()?;
        let is_complete = match &parameters {
            Some(parameters) => {
                parameters.len() == inputs.len()
                    && parameters.iter().all(|parameter| parameter.kind == ParameterKind::Positional)
            }
            None => matches!(class, "torch.nn.Sequential" | "torch.nn.Linear") && inputs.len() == 1,
        };
        let given: Vec<(usize, &Value<'t>)> = inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| input.value != Value::None)
            .map(|(place, input)| (place, &input.value))
            .collect();
        // `dynamo=True` names inputs after the parameters, unless names are given.
        let by_default = parameters.as_ref().filter(|_| {
            is_complete && request.exporter == Exporter::Dynamo && request.is_default("input_names")
        });
        let names = match by_default {
            Some(parameters) => parameters.iter().map(|parameter| parameter.name.to_owned()).collect(),
            None => self.names("input_names")?,
        };
        if names.len() != given.len() {
            return None;
        }
        if inputs.iter().any(|input| input.name.is_some()) {
            return None;
        }
        let mut files = vec![];
        for ((place, value), name) in given.into_iter().zip(&names) {
            let tensor = value.tensor()?;
            let axes = self.declared_axes(name)?;
            let shape = tensor.shape.as_ref().zip(axes).map(|(shape, axes)| {
                let fixed = |(at, size): (usize, &Dim)| size.filter(|_| !axes.contains(&at));
                shape.iter().enumerate().map(fixed).collect()
            });
            let is_dropped = self.dropped.contains(&place);
            files.push(FileInput { name: Rc::from(name.as_str()), shape, dtype: tensor.dtype, is_dropped });
        }
        Some((files, is_complete))
    }

    /// Returns the axes of an input that the call declares dynamic; `None` if they are unknown.
    fn declared_axes(&self, name: &str) -> Option<Axes> {
        let request = self.request;
        if !request.is_default("dynamic_shapes") {
            return None;
        }
        if request.is_default("dynamic_axes") {
            let is_marked = self.machine.mentions(&["mark_dynamic"]);
            let is_known = match request.exporter {
                Exporter::Tracing => true,
                Exporter::Dynamo => !is_marked,
                _ => false,
            };
            return is_known.then(|| Some(vec![]));
        }
        if request.exporter != Exporter::Tracing {
            return None;
        }
        let mut found = vec![];
        for (key, axes) in self.machine.entries(request.value("dynamic_axes")?)? {
            if key.text()? != name {
                continue;
            }
            let axes = match self.machine.entries(&axes) {
                Some(entries) => entries.into_iter().map(|(axis, _)| axis).collect(),
                None => self.machine.items(&axes)?,
            };
            for axis in axes {
                match usize::try_from(axis.int()?) {
                    Ok(axis) => found.push(axis),
                    Err(_) => return Some(None),
                }
            }
        }
        Some(Some(found))
    }
}
