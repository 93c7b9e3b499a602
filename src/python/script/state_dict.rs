//! State dictionaries: `state_dict`, `torch.save`, `torch.load` and `load_state_dict`.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{everything, field, text};
use super::calls::Args;
use super::faults::Fault;
use super::library::is_module_attribute;
use super::machine::{Eval, Machine};
use super::module_methods::LOADED_KEYS;
use super::tensor::{Role, Tensor, differ, shown};
use super::value::Value;
use crate::diag::{Level, Place, rule_ids};

/// Layers of `torch.nn` whose parameters have the names of the attributes that the interpreter sets.
const LAYERS: [&str; 15] = [
    "Module",
    "Sequential",
    "ModuleList",
    "ModuleDict",
    "DataParallel",
    "Linear",
    "Bilinear",
    "Embedding",
    "EmbeddingBag",
    "LayerNorm",
    "RMSNorm",
    "PReLU",
    "LSTM",
    "GRU",
    "RNN",
];

/// Layers whose parameters the interpreter knows completely.
const COMPLETE: [&str; 14] = [
    "Module",
    "Sequential",
    "ModuleList",
    "ModuleDict",
    "Linear",
    "Bilinear",
    "Embedding",
    "LayerNorm",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
];

/// Code that may change the names or the shapes in a state dictionary.
const CHANGES: [&str; 10] = [
    "def state_dict",
    "def load_state_dict",
    "state_dict_hook",
    "state_dict_pre_hook",
    "state_dict_post_hook",
    "_from_state_dict",
    "_to_state_dict",
    "weight_norm",
    "spectral_norm",
    "parametriz",
];

/// Code that may set the parameters of a model.
const SETTERS: [&str; 17] = [
    "backward",
    "optim",
    ".data",
    "Parameter",
    "setattr",
    ".step(",
    ".fit(",
    "functional_call",
    "swap_tensors",
    "to_parameters",
    "init.",
    "pretrained",
    "numpy()",
    "copyto",
    "_parameters",
    "_modules",
    "set_submodule",
];

/// Maximum depth of modules whose state is followed.
const MAX_DEPTH: u32 = 16;

/// Maximum number of parameters in a followed state.
const MAX_ENTRIES: usize = 2000;

impl<'t> Machine<'t> {
    /// Returns the result of `state_dict()`: an open dictionary with the parameters that are known.
    pub fn state_dict(&mut self, module: &Value<'t>) -> Value<'t> {
        let entries = self.known_state(module).into_iter();
        let entries = entries.map(|(name, tensor)| {
            let tensor = Tensor { role: Role::Plain, ..(*tensor).clone() };
            (Value::str(&name), Value::Tensor(Rc::new(tensor)))
        });
        let entries = entries.collect();
        self.dict(entries, true)
    }

    /// Returns the parameters of a module whose names and shapes are certain.
    fn known_state(&self, module: &Value<'t>) -> Vec<(String, Rc<Tensor<'t>>)> {
        let mut found = vec![];
        if !self.mentions(&CHANGES) {
            self.add_state(module, "", 0, &mut found);
        }
        found
    }

    fn add_state(
        &self,
        module: &Value<'t>,
        prefix: &str,
        depth: u32,
        found: &mut Vec<(String, Rc<Tensor<'t>>)>,
    ) {
        let instance = module.object().and_then(|object| self.heap.instance(object));
        let Some(instance) = instance.filter(|_| depth < MAX_DEPTH && self.names_parameters(module)) else {
            return;
        };
        for (name, value) in &instance.attributes {
            let path = format!("{prefix}{name}");
            match value {
                Value::Tensor(tensor)
                    if tensor.role == Role::Parameter
                        && found.len() < MAX_ENTRIES
                        && !self.is_changed(tensor) =>
                {
                    found.push((path, tensor.clone()));
                }
                Value::Object(_) if self.is_module(value) == Some(true) => {
                    self.add_state(value, &format!("{path}."), depth + 1, found);
                }
                _ => {}
            }
        }
    }

    /// Returns true if the attributes of a module have the names of its parameters.
    fn names_parameters(&self, module: &Value<'t>) -> bool {
        let class = self.library_class(module).unwrap_or_default();
        let is_norm = |layer: &str| layer.contains("Norm") && !layer.starts_with("Lazy");
        let is_convolution = |layer: &str| layer.starts_with("Conv");
        class.ends_with(".LightningModule")
            || class
                .strip_prefix("torch.nn.")
                .is_some_and(|layer| LAYERS.contains(&layer) || is_norm(layer) || is_convolution(layer))
    }

    /// Returns true if a module certainly has no parameter or buffer with the key of a state dictionary.
    fn lacks_key(&self, module: &Value<'t>, key: &str) -> bool {
        let mut at = module.clone();
        let mut parts = key.split('.').peekable();
        while let Some(part) = parts.next() {
            let instance = at.object().and_then(|object| self.heap.instance(object));
            let Some(instance) = instance.filter(|one| !one.open && self.names_parameters(&at)) else {
                return false;
            };
            match instance.get(part) {
                None => {
                    let class = self.library_class(&at).unwrap_or_default();
                    let layer = class.strip_prefix("torch.nn.").unwrap_or_default();
                    return COMPLETE.contains(&layer) && !is_module_attribute(part) && !self.is_patched(part);
                }
                Some(Value::None) => return true,
                Some(inner) if parts.peek().is_some() => at = inner.clone(),
                Some(_) => return false,
            }
        }
        false
    }

    /// Returns true if the script may set parameters otherwise, as by training or copies.
    fn may_set_parameters(&self) -> bool {
        self.files.iter().any(|file| {
            SETTERS.iter().any(|setter| file.code().contains(setter))
                || everything(file.tree.root_node()).into_iter().any(|node| {
                    if matches!(node.kind(), "assignment" | "augmented_assignment") {
                        return field(node, "left").is_some_and(|left| sets_part(left, &file.text));
                    }
                    let name = field(node, "attribute").filter(|_| node.kind() == "attribute");
                    let name = name.map_or("", |name| text(name, &file.text));
                    name.ends_with('_') && !name.starts_with('_') && name != "requires_grad_"
                })
        })
    }

    /// Reports weights of which `load_state_dict(state, strict=False)` loads none that is known.
    fn check_ignored(
        &mut self,
        module: &Value<'t>,
        given: &[(Value<'t>, Value<'t>)],
        own: &[(String, Rc<Tensor<'t>>)],
        args: &Args<'t>,
    ) {
        let is_lenient = !args.open && args.get(1, "strict") == Some(&Value::Bool(false));
        let keys: Vec<&str> = given.iter().filter_map(|(key, _)| key.text()).collect();
        let count: usize = self.files.iter().map(|file| file.text.matches("load_state_dict").count()).sum();
        let is_dropped = args.node.parent().is_some_and(|parent| parent.kind() == "expression_statement");
        let is_certain = is_lenient && is_dropped && count == 1 && self.quiet == 0 && self.is_unconditional();
        let stripped = |key: &&str| {
            own.iter()
                .any(|(name, _)| key.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.')))
        };
        if !is_certain
            || self.may_set_parameters()
            || !keys.iter().all(stripped)
            || own.is_empty()
            || keys.len() < 2
            || keys.len() != given.len()
            || !keys.iter().all(|key| self.lacks_key(module, key))
        {
            return;
        }
        let message = format!("the model has none of the parameters in the state, such as `{}`", keys[0]);
        let place = Place::Source(self.place(self.file(), args.node));
        let finding = rule_ids::UNKNOWN_ATTRIBUTE.at(Level::Warning).finding(message, place);
        let finding = finding
            .note("`strict=False` ignores them, so the exported weights are those of the initialization")
            .help("rename the keys, and load them with `strict=True`");
        self.tell([finding]);
    }

    /// Evaluates `load_state_dict(state)`.
    ///
    /// It raises for a parameter of another shape or, if strict, of another name.
    pub fn load_state_dict(&mut self, module: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        let given = args.get(0, "state_dict").and_then(Value::object);
        let given = given.and_then(|object| self.heap.dict(object)).map(|dict| dict.entries.clone());
        let mut given = given.unwrap_or_default();
        // A mismatch of a weight says more than one of a bias.
        given.sort_by_key(|(key, _)| key.text().is_some_and(|key| key.ends_with("bias")));
        let own = self.known_state(module);
        self.check_ignored(module, &given, &own, args);
        let is_strict =
            !args.open && matches!(args.get(1, "strict"), None | Some(Value::Bool(true))) && !own.is_empty();
        for (key, value) in given {
            let (Value::Str(key), Value::Tensor(loaded)) = (key, value) else { continue };
            let parameter = own.iter().find(|(name, _)| **name == *key).map(|(_, tensor)| tensor);
            let shapes = parameter.and_then(|own| own.shape.as_ref()).zip(loaded.shape.as_ref());
            let fault = match shapes {
                // An older format stores a parameter without axes in a tensor with one axis.
                Some((own, loaded)) if !own.is_empty() && differ(own, loaded) => Fault::shape(
                    format!(
                        "`load_state_dict` gets `{key}` of shape {}, but the parameter has shape {}",
                        shown(loaded),
                        shown(own)
                    ),
                    "create the model with the sizes of the saved one",
                ),
                None if is_strict && parameter.is_none() && self.lacks_key(module, &key) => Fault {
                    rule: rule_ids::UNKNOWN_ATTRIBUTE,
                    ..Fault::shape(
                        format!("`load_state_dict` gets `{key}`, but the model has no such parameter"),
                        "load into a model with the same names, or rename the keys",
                    )
                },
                _ => continue,
            };
            return Err(self.fault(args.node, fault));
        }
        Ok(self.instance(LOADED_KEYS, vec![], true))
    }
}

/// Returns true for targets such as `model.head`, `layer.weight[:]` and `state[name][...]`.
fn sets_part(target: Node, source: &str) -> bool {
    match target.kind() {
        "attribute" => field(target, "object").is_none_or(|object| text(object, source) != "self"),
        "subscript" => {
            field(target, "value").is_none_or(|value| value.kind() != "identifier")
                || field(target, "subscript").is_none_or(|key| matches!(key.kind(), "slice" | "ellipsis"))
        }
        _ => false,
    }
}
