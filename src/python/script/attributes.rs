//! Attributes: reads and writes.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::field;
use super::argparse::NAMESPACE;
use super::calls::Args;
use super::export;
use super::export_call::is_near;
use super::faults::{Fault, LINE_RAISES};
use super::file_paths::path_part;
use super::heap::Object;
use super::library;
use super::machine::{Eval, Machine, Stop};
use super::torch::torchvision::lacks;
use super::value::{Function, FunctionKind, Value};
use crate::diag::rule_ids;

impl<'t> Machine<'t> {
    /// Evaluates `x.name`.
    pub fn attribute_expression(&mut self, node: Node<'t>) -> Eval<'t> {
        let object = self.evaluate_optional(field(node, "object"))?;
        let Some(name) = field(node, "attribute") else { return Ok(Value::Unknown) };
        let value = self.attribute(&object, self.text(name), node)?;
        self.note_state_read(&value, node);
        self.note_stale(&value, node);
        Ok(value)
    }

    /// Returns an attribute. A fault is reported at `node`.
    pub fn attribute(&mut self, object: &Value<'t>, name: &str, node: Node<'t>) -> Eval<'t> {
        match object {
            Value::Name(path) => self.library_attribute(path, name, node),
            Value::Tensor(tensor) => self.tensor_attribute(&tensor.clone(), name, node),
            Value::Super(inner) => {
                let (this, class) = (**inner).clone();
                Ok(self.super_attribute(&this, class, name))
            }
            Value::Object(reference) => self.object_attribute(object, *reference, name, node),
            // A string may be a member of an enumeration, whose name is not that of a path.
            Value::Str(_) if name == "name" && self.has_enumeration(false) => Ok(Value::Unknown),
            // Only paths of `pathlib` have these attributes.
            Value::Str(text) if matches!(name, "suffix" | "stem" | "name" | "parent") => {
                Ok(path_part(text, name))
            }
            // Only members of enumerations have a value.
            Value::Str(_) | Value::Int(_) | Value::Float(_) if name == "value" => Ok(object.clone()),
            Value::Str(_) | Value::Tuple(_) | Value::Range(..) => {
                Ok(Value::Method(Rc::new((object.clone(), Rc::from(name)))))
            }
            Value::Function(function) if name == "__name__" => Ok(Value::str(function.name)),
            Value::Function(_) | Value::Bound(_) if name == "__code__" => {
                let Some(names) = self.parameter_names(object, false) else { return Ok(Value::Unknown) };
                let names: Vec<Value<'t>> = names.iter().map(|name| Value::str(name)).collect();
                let count = Value::size(i64::try_from(names.len()).ok());
                let attributes = vec![("co_varnames", Value::tuple(names)), ("co_argcount", count)];
                Ok(self.instance("types.CodeType", attributes, true))
            }
            Value::Device(text) if name == "type" => Ok(Value::str(text.split(':').next().unwrap_or(text))),
            _ => Ok(Value::Unknown),
        }
    }

    /// Returns the names of the parameters of a function, if they are known.
    ///
    /// `is_bound` omits `self` of a bound method.
    pub fn parameter_names(&mut self, function: &Value<'t>, is_bound: bool) -> Option<Vec<&'t str>> {
        let (function, skipped) = match function {
            Value::Function(function) => (function.clone(), 0),
            Value::Bound(bound) => (bound.1.clone(), usize::from(is_bound)),
            _ => return None,
        };
        let parameters = self.parameters_in(&function)?;
        Some(parameters.iter().skip(skipped).map(|parameter| parameter.name).collect())
    }

    /// Returns `sys.argv` of a script that is called without arguments.
    pub fn script_arguments(&mut self) -> Value<'t> {
        self.list(vec![Value::str(&self.files[0].path)])
    }

    fn library_attribute(&mut self, path: &Rc<str>, name: &str, node: Node<'t>) -> Eval<'t> {
        if let Some(stop) = self.missing_name(path, name, node) {
            return Err(stop);
        }
        if self.is_without_arguments && &**path == "sys" && name == "argv" {
            return Ok(self.script_arguments());
        }
        Ok(library::constant(path, name).unwrap_or_else(|| Value::name(&library::canonical(path, name))))
    }

    fn object_attribute(
        &mut self,
        object: &Value<'t>,
        reference: usize,
        name: &str,
        node: Node<'t>,
    ) -> Eval<'t> {
        let method = || Value::Method(Rc::new((object.clone(), Rc::from(name))));
        match self.heap.get(reference) {
            Object::Scope(scope) => Ok(scope.variables.get(name).cloned().unwrap_or_default()),
            Object::List(_) | Object::Set(_) | Object::Dict(_) => Ok(method()),
            Object::Class(class) => {
                let is_open = class.open;
                match self.class_attribute(reference, name, None) {
                    Ok(Value::Function(function)) if function.kind == FunctionKind::OfClass => {
                        Ok(Value::Bound(Rc::new((object.clone(), function))))
                    }
                    Ok(_) if is_open => Ok(Value::Unknown),
                    Ok(value) => Ok(value),
                    Err(Some(Value::Name(base))) if name == "apply" && base.ends_with("Function") => {
                        Ok(method())
                    }
                    Err(_) if name == "__name__" => {
                        Ok(self.heap.class(reference).map_or(Value::Unknown, |class| Value::str(class.name)))
                    }
                    Err(_) => Ok(Value::Unknown),
                }
            }
            Object::Instance(instance) => {
                if let Some(value) = instance.get(name) {
                    return Ok(value.clone());
                }
                let (class, open) = (instance.class.clone(), instance.open);
                if let Some(array) = self.array_tensor(object)
                    && let Some(value) = self.array_attribute(&array, name, node)?
                {
                    return Ok(value);
                }
                self.inherited(object, &class, open, name, node)
            }
        }
    }

    /// Returns an attribute that the class of an instance provides.
    fn inherited(
        &mut self,
        object: &Value<'t>,
        class: &Value<'t>,
        open: bool,
        name: &str,
        node: Node<'t>,
    ) -> Eval<'t> {
        let method = || Value::Method(Rc::new((object.clone(), Rc::from(name))));
        if STATE.contains(&name)
            && let Some(instance) = object.object().and_then(|object| self.heap.instance_mut(object))
        {
            instance.open = true;
        }
        let Value::Object(class) = class else {
            self.check_library_attribute(object, class, open, name, node)?;
            return Ok(match name {
                "__class__" => class.clone(),
                "__dict__" => Value::Unknown,
                _ => method(),
            });
        };
        match self.class_attribute(*class, name, None) {
            Ok(Value::Function(function)) => self.bound(object, *class, function, node),
            Ok(value) => Ok(value),
            Err(_) if name == "__class__" => Ok(Value::Object(*class)),
            Err(_) if name == "__dict__" => Ok(Value::Unknown),
            Err(library) => {
                let is_module = self.is_module(object) == Some(true);
                let is_inherited = library::is_module_attribute(name)
                    || export::is_export_method(name) && !library_is_plain(library.as_ref());
                if is_module && is_inherited {
                    return Ok(method());
                }
                let has_hook = self.class_attribute(*class, "__getattr__", None).is_ok()
                    || self.class_attribute(*class, "__getattribute__", None).is_ok();
                if is_module
                    && !open
                    && !has_hook
                    && !name.starts_with("__")
                    && library_is_plain(library.as_ref())
                    && !self.is_patched(name)
                {
                    return Err(self.no_attribute(object, *class, name, node));
                }
                Ok(Value::Unknown)
            }
        }
    }

    /// Reports an attribute that an instance of a library class does not have.
    fn check_library_attribute(
        &self,
        object: &Value<'t>,
        class: &Value<'t>,
        open: bool,
        name: &str,
        node: Node<'t>,
    ) -> Result<(), Stop> {
        let (message, help) = match class.path() {
            _ if name.starts_with('_') => return Ok(()),
            Some(export::ONNX_PROGRAM) if !export::PROGRAM_ATTRIBUTES.contains(&name) => (
                format!("`ONNXProgram` has no attribute `{name}`"),
                "save the program with `save(path)`, or use its `model_proto`".to_owned(),
            ),
            Some(NAMESPACE) if !open && !self.may_define(name) => {
                let instance = object.object().and_then(|object| self.heap.instance(object));
                let names = instance.iter().flat_map(|instance| instance.attributes.iter());
                let near = names.map(|(known, _)| &**known).find(|known| is_near(known, name));
                let other = "add the argument to the parser, or correct the name".to_owned();
                let help = near.map_or(other, |near| format!("write `{near}`"));
                (format!("the parser defines no argument `{name}`"), help)
            }
            Some(path)
                if lacks(path, name)
                    && !library::is_module_attribute(name)
                    && !self.may_define(name)
                    && matches!(self.attribute_of(object, "weight"), Some(Value::Tensor(_))) =>
            {
                let model = path.rsplit('.').next().unwrap_or(path);
                let help = format!("print `{model}(weights=None)` for the names of its layers");
                (format!("`{model}` has no attribute `{name}`"), help)
            }
            _ => return Ok(()),
        };
        let (rule, kind) = (rule_ids::UNKNOWN_ATTRIBUTE, "AttributeError");
        Err(self.fault(node, Fault { rule, kind, note: LINE_RAISES, ..Fault::shape(message, help) }))
    }

    fn bound(
        &mut self,
        object: &Value<'t>,
        class: usize,
        function: Rc<Function<'t>>,
        node: Node<'t>,
    ) -> Eval<'t> {
        match function.kind {
            FunctionKind::Property => self.call_function(&function, Some(object.clone()), &Args::none(node)),
            FunctionKind::Static => Ok(Value::Function(function)),
            FunctionKind::OfClass => Ok(Value::Bound(Rc::new((Value::Object(class), function)))),
            FunctionKind::Plain => Ok(Value::Bound(Rc::new((object.clone(), function)))),
        }
    }

    /// Returns an attribute of the object itself, not of its class, without running code.
    pub fn attribute_of(&self, object: &Value<'t>, name: &str) -> Option<Value<'t>> {
        self.heap.instance(object.object()?)?.get(name).cloned()
    }

    /// Returns a setting of a layer, which is one of its attributes.
    ///
    /// Returns `Unknown` if the layer has no such attribute.
    pub fn setting(&self, layer: &Value<'t>, name: &str) -> Value<'t> {
        self.attribute_of(layer, name).unwrap_or_default()
    }

    /// Sets an attribute.
    pub fn set_attribute(&mut self, object: &Value<'t>, name: &str, value: Value<'t>) {
        match object {
            // These attributes change an array in place.
            Value::Object(_) if matches!(name, "shape" | "dtype") && self.array_tensor(object).is_some() => {
                self.forget(object);
            }
            Value::Object(reference) => match self.heap.get_mut(*reference) {
                Object::Instance(instance) => instance.set(name, value),
                Object::Scope(scope) => {
                    scope.variables.insert(Rc::from(name), value);
                }
                Object::Class(class) => {
                    class.attributes.retain(|(known, _)| &**known != name);
                    class.attributes.push((Rc::from(name), value));
                }
                _ => {}
            },
            Value::Tensor(tensor) => {
                let tensor = tensor.clone();
                self.write(&tensor);
            }
            _ => {}
        }
    }

    /// Forgets the state of an object that unknown code may change, and of the objects that it refers to.
    pub fn forget(&mut self, value: &Value<'t>) {
        let mut todo = vec![value.clone()];
        let mut seen = vec![];
        while let Some(value) = todo.pop() {
            match value {
                Value::Tensor(tensor) => self.write(&tensor),
                Value::Tuple(items) => todo.extend(items.iter().cloned()),
                Value::Object(object) if !seen.contains(&object) && seen.len() < MAX_FORGOTTEN => {
                    seen.push(object);
                    match self.heap.get_mut(object) {
                        Object::List(list) | Object::Set(list) => {
                            todo.append(&mut list.items);
                            list.open = true;
                        }
                        Object::Dict(dict) => {
                            todo.extend(dict.entries.drain(..).map(|(_, value)| value));
                            dict.open = true;
                        }
                        Object::Instance(instance) => {
                            for (_, value) in &mut instance.attributes {
                                todo.push(std::mem::take(value));
                            }
                            instance.open = true;
                        }
                        Object::Class(class) => class.open = true,
                        Object::Scope(_) => {}
                    }
                }
                _ => {}
            }
        }
    }
}

/// Dictionaries of an object: a write to one of them adds attributes.
const STATE: [&str; 4] = ["__dict__", "_modules", "_parameters", "_buffers"];

/// Maximum number of objects whose state one call forgets.
const MAX_FORGOTTEN: usize = 4096;

/// Returns true if the first library class in a lineage is `torch.nn.Module` itself.
///
/// The attributes of `torch.nn.Module` are known.
fn library_is_plain(library: Option<&Value>) -> bool {
    library.is_some_and(|base| matches!(base.path(), Some("torch.nn.Module")))
}
