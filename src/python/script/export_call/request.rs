//! A call of an exporter with its arguments bound to parameters.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::exporting::{Argument, ExportCall};
use super::super::machine::Machine;
use super::super::release::Release;
use super::super::value::Value;
use super::signature::{self, Parameter};

/// The exporters that the checks distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exporter {
    /// `torch.onnx.export(…, dynamo=False)`.
    Tracing,
    /// `torch.onnx.export(…, dynamo=True)`.
    Dynamo,
    /// `torch.onnx.export` with an unknown `dynamo`.
    Either,
    /// `torch.export.export`.
    Program,
    /// `torch.jit.trace`.
    Trace,
    Other,
}

/// A call of an exporter with its arguments bound to parameters.
#[derive(Debug)]
pub struct Request<'c, 't> {
    pub call: &'c ExportCall<'t>,
    /// Full path of the function whose signature applies.
    pub function: &'static str,
    pub exporter: Exporter,
    pub release: Release,
    /// Parameters of the function; empty if it has no known signature.
    pub parameters: Vec<Parameter>,
    bound: Vec<(Rc<str>, &'c Argument<'t>)>,
    /// Positional arguments beyond the last positional parameter.
    pub extra: Vec<&'c Argument<'t>>,
    /// Keyword arguments without a parameter.
    pub unknown: Vec<&'c Argument<'t>>,
    /// Examples: positional arguments of `forward`, then those by name; `None` if the examples are unknown.
    pub inputs: Option<Vec<Input<'t>>>,
}

/// An example for a parameter of `forward`.
#[derive(Clone, Debug)]
pub struct Input<'t> {
    /// Name of the parameter, if it is known.
    pub name: Option<Rc<str>>,
    pub value: Value<'t>,
}

impl<'c, 't> Request<'c, 't> {
    /// Binds the arguments of a call.
    pub fn new(machine: &mut Machine<'t>, call: &'c ExportCall<'t>) -> Self {
        let release = machine.release;
        let function = match &*call.exporter {
            "torch.onnx.export" | "torch.onnx.utils.export" | "torch.onnx._export" => "torch.onnx.export",
            "torch.export.export" => "torch.export.export",
            "torch.jit.trace" => "torch.jit.trace",
            _ => "",
        };
        let parameters = signature::parameters(function, release);
        let mut request = Request {
            call,
            function,
            exporter: Exporter::Other,
            release,
            bound: vec![],
            extra: vec![],
            unknown: vec![],
            inputs: None,
            parameters,
        };
        request.bind();
        request.exporter = request.exporter_of(machine);
        request.inputs = request.inputs_of(machine);
        request
    }

    fn bind(&mut self) {
        let positional = self.call.arguments.iter().filter(|argument| argument.name.is_none());
        for (at, argument) in positional.enumerate() {
            match self.parameters.iter().find(|parameter| parameter.position == Some(at)) {
                Some(parameter) => self.bound.push((Rc::from(parameter.name), argument)),
                None => self.extra.push(argument),
            }
        }
        for argument in &self.call.arguments {
            let Some(name) = &argument.name else { continue };
            if self.parameters.iter().any(|parameter| parameter.name == name.as_str()) {
                self.bound.push((Rc::from(name.as_str()), argument));
            } else {
                self.unknown.push(argument);
            }
        }
    }

    fn exporter_of(&self, machine: &Machine<'t>) -> Exporter {
        match self.function {
            "torch.export.export" => return Exporter::Program,
            "torch.jit.trace" => return Exporter::Trace,
            "torch.onnx.export" => {}
            _ => return Exporter::Other,
        }
        let by_default = if self.release >= Release(2, 9) { Exporter::Dynamo } else { Exporter::Tracing };
        let class = self.value("model").and_then(|model| machine.library_class(model));
        if class.as_deref() == Some("torch.export.ExportedProgram") {
            return Exporter::Dynamo;
        }
        match self.value("dynamo") {
            // Only `True` itself selects this exporter, not other values that are true.
            Some(Value::Bool(true)) => Exporter::Dynamo,
            Some(Value::Unknown) => Exporter::Either,
            Some(_) => Exporter::Tracing,
            None if !self.call.is_complete => Exporter::Either,
            None => by_default,
        }
    }

    /// Returns the argument that is bound to the parameter `name`.
    pub fn argument(&self, name: &str) -> Option<&'c Argument<'t>> {
        self.bound.iter().find(|(bound, _)| &**bound == name).map(|(_, argument)| *argument)
    }

    /// Returns the value of the parameter `name`; `None` if no argument is bound to the parameter.
    pub fn value(&self, name: &str) -> Option<&'c Value<'t>> {
        self.argument(name).map(|argument| &argument.value)
    }

    /// Returns the value of the argument bound to a parameter, unless it is unknown or `None`.
    pub fn given(&self, name: &str) -> Option<&'c Value<'t>> {
        self.value(name).filter(|value| !matches!(value, Value::Unknown | Value::None))
    }

    /// Returns true if a parameter certainly has its default.
    pub fn is_default(&self, name: &str) -> bool {
        self.value(name).map_or(self.call.is_complete, |value| *value == Value::None)
    }

    /// Returns the expression of the argument `name`, or the call if there is no such expression.
    pub fn node(&self, name: &str) -> Node<'t> {
        self.argument(name).and_then(|argument| argument.node).unwrap_or(self.call.node)
    }

    /// Returns the model.
    pub fn model(&self) -> Option<&'c Value<'t>> {
        self.call.receiver.as_ref().or_else(|| {
            let names = ["model", "mod", "f", "func"];
            names.iter().find_map(|name| self.value(name)).or_else(|| {
                let first = self.call.arguments.first()?;
                first.name.is_none().then_some(&first.value)
            })
        })
    }

    /// Returns the argument that holds the model.
    pub fn model_argument(&self) -> Option<&'c Argument<'t>> {
        let model = self.model()?;
        self.call.arguments.iter().find(|argument| std::ptr::eq(&raw const argument.value, model))
    }

    fn inputs_of(&self, machine: &Machine<'t>) -> Option<Vec<Input<'t>>> {
        if !self.call.is_complete || self.exporter == Exporter::Other {
            return None;
        }
        let args = match self.exporter {
            Exporter::Trace => &self.call.argument(1, "example_inputs")?.value,
            _ => self.value("args")?,
        };
        let mut values = match args {
            Value::Tuple(items) => items.to_vec(),
            Value::Tensor(_) => vec![args.clone()],
            _ => return None,
        };
        let mut named = vec![];
        let is_onnx = self.function == "torch.onnx.export";
        if is_onnx
            && let Some(last) = values.last().cloned()
            && self.is_dict(machine, &last)
        {
            values.pop();
            named = machine.entries(&last)?;
        }
        if let Some(keywords) = self.given("kwargs") {
            named.extend(machine.entries(keywords)?);
        }
        if self.value("kwargs") == Some(&Value::Unknown) {
            return None;
        }
        let positional = values.into_iter().map(|value| Input { name: None, value });
        let named = named.into_iter().map(|(name, value)| {
            let Value::Str(name) = name else { return None };
            Some(Input { name: Some(name), value })
        });
        let mut inputs: Vec<Input> = positional.collect();
        inputs.extend(named.collect::<Option<Vec<_>>>()?);
        Some(inputs)
    }

    fn is_dict(&self, machine: &Machine<'t>, value: &Value<'t>) -> bool {
        value.object().is_some_and(|object| machine.heap.dict(object).is_some())
    }

    /// Returns the tensors among the examples, in the order in which the exporter makes inputs of them.
    ///
    /// `None` if an example is unknown, or is a structure whose tensors are not known.
    pub fn tensors(&self, machine: &Machine<'t>) -> Option<Vec<Value<'t>>> {
        let mut found = vec![];
        let is_ignored =
            |value: &Value| matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_));
        for input in self.inputs.as_ref()? {
            add_tensors(machine, &input.value, is_ignored, &mut found, 0)?;
        }
        Some(found)
    }
}

/// Appends the tensors in a value, its lists and its dictionaries; `None` if the tensors are unknown.
///
/// `None` values, and values for which `is_ignored` holds, are skipped.
pub fn add_tensors<'t>(
    machine: &Machine<'t>,
    value: &Value<'t>,
    is_ignored: fn(&Value) -> bool,
    into: &mut Vec<Value<'t>>,
    depth: u32,
) -> Option<()> {
    match value {
        Value::Tensor(_) => into.push(value.clone()),
        Value::None => {}
        _ if is_ignored(value) => {}
        Value::Tuple(_) | Value::Object(_) if depth < 8 => {
            let items = match machine.entries(value) {
                Some(entries) => entries.into_iter().map(|(_, value)| value).collect(),
                None => machine.items(value)?,
            };
            for item in items {
                add_tensors(machine, &item, is_ignored, into, depth + 1)?;
            }
        }
        _ => return None,
    }
    Some(())
}
