//! Modules: their construction, state, submodules and calls.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::field;
use super::calls::Args;
use super::faults::{Fault, LINE_RAISES};
use super::heap::Object;
use super::machine::{Eval, Machine, Stop};
use super::tensor::{Role, Tensor};
use super::value::{Function, Ref, Value};
use crate::diag::rule_ids;

/// Library classes whose instances are modules, besides those of `torch.nn`.
const MODULE_BASES: [&str; 8] = [
    "LightningModule",
    "PreTrainedModel",
    "ScriptModule",
    "TopLevelTracedModule",
    "ModelMixin",
    "torch.compile",
    "PyTorchModelHubMixin",
    "QuantizedModel",
];

/// Maximum number of submodules of a module that are followed.
const MAX_MODULES: usize = 20_000;

impl<'t> Machine<'t> {
    /// Returns whether a value is a module; `None` if unknown.
    pub fn is_module(&self, value: &Value<'t>) -> Option<bool> {
        let instance = match value {
            Value::Unknown | Value::Name(_) | Value::Method(_) => return None,
            Value::Object(object) => match self.heap.get(*object) {
                Object::Instance(instance) => instance,
                _ => return Some(false),
            },
            _ => return Some(false),
        };
        let bases = self.library_bases(&instance.class);
        if bases.iter().any(|base| base.path().is_some_and(is_module_class)) {
            return Some(true);
        }
        let is_plain = |base: &Value| matches!(base.path(), Some("object" | "abc.ABC"));
        bases.iter().all(is_plain).then_some(false)
    }

    /// Returns the path of the nearest library class in the lineage of an instance.
    pub fn library_class(&self, value: &Value<'t>) -> Option<String> {
        let instance = self.heap.instance(value.object()?)?;
        let bases = self.library_bases(&instance.class);
        bases.iter().find_map(Value::path).map(str::to_owned)
    }

    /// Returns the items of a container of modules or parameters, in order: the keys if it is a dictionary.
    pub fn container_items(&self, object: Ref) -> Option<Vec<Value<'t>>> {
        let class = self.library_class(&Value::Object(object))?;
        if class == "torch.return_types" {
            return self.items(self.heap.instance(object)?.get("items")?);
        }
        let is_dict = matches!(class.as_str(), "torch.nn.ModuleDict" | "torch.nn.ParameterDict");
        if !(is_list(&class) || is_dict) {
            return None;
        }
        let own = self.own_items(object)?;
        Some(if is_dict {
            own.map(|(name, _)| Value::Str(name.clone())).collect()
        } else {
            own.map(|(_, value)| value.clone()).collect()
        })
    }

    /// Returns the names and values of the items of a container, if all are known.
    fn own_items(&self, object: Ref) -> Option<impl Iterator<Item = &(Rc<str>, Value<'t>)>> {
        let instance = self.heap.instance(object).filter(|instance| !instance.open)?;
        Some(instance.attributes.iter().filter(|(name, value)| is_item(name, value)))
    }

    /// Returns the item of a container of modules.
    pub fn container_item(&mut self, object: Ref, index: &Value<'t>, node: Node<'t>) -> Eval<'t> {
        if let Value::Str(name) = index {
            let instance = self.heap.instance(object);
            return Ok(instance.and_then(|instance| instance.get(name).cloned()).unwrap_or_default());
        }
        let class = self.library_class(&Value::Object(object)).unwrap_or_default();
        if let Some(index) = index.int().filter(|_| is_list(&class)) {
            self.check_index(object, index, node)?;
            return Ok(self.named_item(object, index).map_or(Value::Unknown, |(_, item)| item));
        }
        let Some(items) = self.container_items(object) else { return Ok(Value::Unknown) };
        let items = Value::tuple(items);
        match (self.item(&items, index, node)?, index) {
            (Value::Tuple(some), Value::Slice(_)) => Ok(self.container(&class, some.to_vec(), node)),
            (item, _) => Ok(item),
        }
    }

    /// Reports an index that is out of range for a list of modules.
    pub fn check_index(&self, object: Ref, index: i64, node: Node<'t>) -> Result<(), Stop> {
        let class = self.heap.instance(object).and_then(|instance| instance.class.path());
        let is_checked = |class: &&str| matches!(*class, "torch.nn.Sequential" | "torch.nn.ModuleList");
        let Some(class) = class.filter(is_checked) else { return Ok(()) };
        let Some(count) = self.own_items(object).map(Iterator::count) else { return Ok(()) };
        let mut items = self.own_items(object).into_iter().flatten();
        if super::containers::place(index, count).is_some()
            || items.any(|(_, item)| self.is_module(item) != Some(true))
        {
            return Ok(());
        }
        let name = class.rsplit('.').next().unwrap_or(class);
        let held = crate::diag::counted(count, "item");
        let fault = Fault {
            rule: rule_ids::INDEX_OUT_OF_RANGE,
            kind: "IndexError",
            note: LINE_RAISES,
            ..Fault::shape(
                format!("the index {index} is out of range for a `{name}` of {held}"),
                "use an index of an existing item, or add an item with `append`",
            )
        };
        Err(self.fault(node, fault))
    }

    /// Returns an item of a list of modules, and the name of the attribute that holds it.
    pub fn named_item(&self, object: Ref, index: i64) -> Option<(Rc<str>, Value<'t>)> {
        let at = super::containers::place(index, self.own_items(object)?.count())?;
        self.own_items(object)?.nth(at).cloned()
    }

    /// Returns a new container of modules.
    pub fn container(&mut self, class: &str, items: Vec<Value<'t>>, node: Node<'t>) -> Value<'t> {
        let container = self.instance(class, vec![("training", Value::Bool(true))], false);
        for (at, item) in items.into_iter().enumerate() {
            self.set_attribute(&container, &at.to_string(), item);
        }
        self.set_origin(&container, node);
        container
    }

    /// Records the expression that created an instance.
    pub fn set_origin(&mut self, value: &Value<'t>, node: Node<'t>) {
        let file = self.file();
        if let Some(instance) = value.object().and_then(|object| self.heap.instance_mut(object)) {
            instance.origin.get_or_insert((file, node));
        }
    }

    /// Returns a module and its submodules, each once.
    pub fn modules_of(&self, module: &Value<'t>) -> Vec<Value<'t>> {
        let mut found: Vec<Value<'t>> = vec![module.clone()];
        let mut seen: rustc_hash::FxHashSet<Ref> = module.object().into_iter().collect();
        let mut at = 0;
        while at < found.len() && found.len() < MAX_MODULES {
            let instance = found[at].object().and_then(|object| self.heap.instance(object));
            let values = instance.map(|instance| instance.attributes.clone()).unwrap_or_default();
            for (_, value) in values {
                if let Value::Object(object) = value
                    && self.is_module(&value) == Some(true)
                    && seen.insert(object)
                {
                    found.push(value);
                }
            }
            at += 1;
        }
        found
    }

    /// Returns the parameters and buffers of a module and of its submodules.
    pub fn parameters_of(&self, module: &Value<'t>) -> Vec<Rc<Tensor<'t>>> {
        let instances = self.modules_of(module);
        let instances = instances.iter().filter_map(|module| self.heap.instance(module.object()?));
        let values = instances.flat_map(|instance| instance.attributes.iter().map(|(_, value)| value));
        let tensors = values.filter_map(|value| match value {
            Value::Tensor(tensor) if tensor.role != Role::Plain => Some(tensor.clone()),
            _ => None,
        });
        tensors.collect()
    }

    /// Returns true if a module or a submodule of it may have unknown attributes.
    pub fn is_open(&self, module: &Value<'t>) -> bool {
        self.modules_of(module).iter().any(|module| {
            let instance = module.object().and_then(|object| self.heap.instance(object));
            instance.is_none_or(|instance| instance.open)
        })
    }

    /// Calls a module: runs its `forward`.
    pub fn call_module(&mut self, module: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        let instance = module.object().and_then(|object| self.heap.instance(object));
        let Some(instance) = instance else { return Ok(Value::Unknown) };
        let (class, origin) = (instance.class.clone(), instance.origin);
        let depth = self.layers.len();
        self.layers.extend(origin);
        let is_earlier = depth == 0 && !self.coverage.is_active && self.quiet == 0;
        let start = self.memory + 1;
        let result = self.run_forward(module, &class, args);
        if is_earlier {
            self.earlier.push((start, self.memory + 1));
        }
        self.layers.truncate(depth);
        result
    }

    fn run_forward(&mut self, module: &Value<'t>, class: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        if let Some(own) = self.own_forward(module) {
            return self.invoke(&own.clone(), args);
        }
        if self.mentions(&["register_module_forward"]) {
            return Ok(Value::Unknown);
        }
        match class {
            Value::Object(class) => match self.class_attribute(*class, "forward", None) {
                Ok(Value::Function(function)) => self.call_function(&function, Some(module.clone()), args),
                Err(Some(Value::Name(base))) => self.layer_forward(module, &base, args),
                _ => Ok(Value::Unknown),
            },
            Value::Name(path) => self.layer_forward(module, &path.clone(), args),
            _ => Ok(Value::Unknown),
        }
    }

    /// Returns what the script assigned to `forward` of this module, which hides the method of the class.
    fn own_forward(&self, module: &Value<'t>) -> Option<&Value<'t>> {
        self.heap.instance(module.object()?)?.get("forward")
    }

    /// Returns the `forward` of a module, if it is a method of a class of the script.
    pub fn forward_function(&self, module: &Value<'t>) -> Option<Rc<Function<'t>>> {
        if self.own_forward(module).is_some() {
            return None;
        }
        let class = self.heap.instance(module.object()?)?.class.object()?;
        match self.class_attribute(class, "forward", None) {
            Ok(Value::Function(function)) => Some(function),
            _ => None,
        }
    }

    #[allow(dead_code, reason = "the checks of calls use it")]
    /// Returns the parameters of `forward` without `self`, if it is a function of the script.
    pub fn forward_parameters(&mut self, module: &Value<'t>) -> Option<Vec<super::binding::Parameter<'t>>> {
        let function = self.forward_function(module)?;
        Some(self.parameters_in(&function)?.into_iter().skip(1).collect())
    }

    /// Calls an object of the heap: a class, a module, or an instance with `__call__`.
    pub fn call_object(&mut self, object: Ref, args: &Args<'t>) -> Eval<'t> {
        let value = Value::Object(object);
        match self.heap.get(object) {
            Object::Class(_) => self.instantiate(object, args),
            Object::Instance(instance) => {
                let class = instance.class.clone();
                if let Value::Object(class) = class
                    && let Ok(Value::Function(function)) = self.class_attribute(class, "__call__", None)
                {
                    return self.call_function(&function, Some(value), args);
                }
                if let Some(result) = self.call_command(&value, args) {
                    return result;
                }
                if class.path() == Some("functools.partial") {
                    return self.complete(&value, args);
                }
                if let Some(transformed) = self.transformed(&value, args) {
                    return Ok(transformed);
                }
                if self.is_module(&value) == Some(true) {
                    return self.call_module(&value, args);
                }
                self.havoc(args);
                Ok(Value::Unknown)
            }
            _ => {
                self.havoc(args);
                Ok(Value::Unknown)
            }
        }
    }

    /// Changes the shape of a tensor under all its names, if an in-place method changed it.
    fn reshape_aliases(&mut self, before: &Rc<Tensor<'t>>, result: &Value<'t>) {
        let Some(after) = result.tensor().filter(|after| after.shape != before.shape) else { return };
        self.heap.replace_tensor(before, result);
        // The names outside of the model have the example without its marks.
        let marked = self.marked.iter().find(|(marked, _)| Rc::ptr_eq(marked, before)).cloned();
        if let (Some((_, example)), Value::Tensor(result)) = (marked, result) {
            let after = Value::Tensor(Rc::new(Tensor { varies: false, ..after.clone() }));
            self.heap.replace_tensor(&example, &after);
            let Value::Tensor(after) = after else { return };
            self.marked.push((result.clone(), after));
        }
    }

    /// Binds a variable to the result of an in-place method, which may have another shape.
    ///
    /// For example, `x.unsqueeze_(0)` changes the shape of `x`.
    pub fn rebind_receiver(
        &mut self,
        function: Node<'t>,
        callee: &Value<'t>,
        result: &Value<'t>,
    ) -> Result<(), Stop> {
        let Value::Method(method) = callee else { return Ok(()) };
        let (Value::Tensor(before), name) = (&method.0, &method.1) else { return Ok(()) };
        if !name.ends_with('_') || name.ends_with("__") {
            return Ok(());
        }
        self.reshape_aliases(before, result);
        let object = field(function, "object");
        match object.filter(|object| matches!(object.kind(), "identifier" | "attribute")) {
            Some(object) => self.assign(object, result.clone()),
            None => Ok(()),
        }
    }
}

/// Returns true for a class of lists of modules or parameters.
fn is_list(class: &str) -> bool {
    matches!(class, "torch.nn.Sequential" | "torch.nn.ModuleList" | "torch.nn.ParameterList")
}

/// Returns true if an attribute of a container holds an item.
fn is_item(name: &str, value: &Value) -> bool {
    name != "training" && !matches!(value, Value::Bool(_) | Value::Int(_) | Value::Str(_))
}

/// Returns true if the instances of a library class are modules.
fn is_module_class(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    let is_layer = path.strip_prefix("torch.nn.").is_some_and(|rest| {
        !rest.contains('.')
            && rest.starts_with(|letter: char| letter.is_ascii_uppercase())
            && !matches!(rest, "Parameter" | "Buffer" | "ParameterList")
    });
    is_layer
        || path.starts_with("torchvision.models.")
        || MODULE_BASES.iter().any(|base| *base == last || *base == path)
}
