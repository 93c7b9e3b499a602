//! Inputs of the exported file, with the sizes that the file fixes.

use std::rc::Rc;

use super::super::binding::ParameterKind;
use super::super::model_file::{FileInput, ModelFile};
use super::super::tensor::Dim;
use super::super::value::Value;
use super::check::Check;
use super::request::Exporter;

/// Dynamic axes of an input; `None` if each axis may be dynamic.
type Axes = Option<Vec<usize>>;

impl<'t> Check<'_, '_, 't> {
    /// Returns the model in the exported file, if all its examples are tensors with known names.
    pub fn model_file(&mut self) -> Option<ModelFile<'t>> {
        let request = self.request;
        let model = request.model().cloned()?;
        let class = self.machine.library_class(&model).unwrap_or_default();
        let is_module = self.machine.is_module(&model) == Some(true) && !class.contains(".jit.");
        if request.function != "torch.onnx.export" || !request.call.is_complete || !is_module {
            return None;
        }
        let parameters = self.machine.forward_parameters(&model);
        let inputs = request.inputs.as_ref()?;
        let is_complete = match parameters {
            Some(parameters) => {
                parameters.len() == inputs.len()
                    && parameters.iter().all(|parameter| parameter.kind == ParameterKind::Positional)
            }
            None => matches!(class.as_str(), "torch.nn.Sequential" | "torch.nn.Linear") && inputs.len() == 1,
        };
        let given: Vec<(usize, &Value<'t>)> = inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| input.value != Value::None)
            .map(|(place, input)| (place, &input.value))
            .collect();
        let names = self.names("input_names").filter(|names| names.len() == given.len())?;
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
        Some(ModelFile { inputs: files, is_complete, export: (request.call.file, request.call.node) })
    }

    /// Returns the axes of an input that the call declares dynamic; `None` if they are unknown.
    fn declared_axes(&self, name: &str) -> Option<Axes> {
        let request = self.request;
        if !request.is_default("dynamic_shapes") {
            return None;
        }
        if request.is_default("dynamic_axes") {
            let is_marked = self.machine.files.iter().any(|file| file.text.contains("mark_dynamic"));
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
