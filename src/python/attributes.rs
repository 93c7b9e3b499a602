//! Attributes of a module, set by `__init__` and by the class body.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::parameters::parameters;
use super::syntax::{children, field, text};
use super::value::Value;

impl<'t> Interpreter<'t> {
    /// Returns the value of an attribute of an instance of `class`.
    pub fn instance_attribute(&mut self, class: usize, name: &'t str) -> Value {
        if let Some(value) = self.changed.get(&(class, name)) {
            return value.clone();
        }
        let value = self.attributes_of(class).get(name).cloned();
        let method = || self.program.method(class, name).map(|function| Value::Method { function, class });
        match value.or_else(method) {
            Some(value) => value,
            // Models are usually exported in inference mode.
            None if name == "training" => Value::Bool(Some(false)),
            None => Value::Unknown,
        }
    }

    /// Returns the attributes that a class and its bases in this file set in bodies and `__init__` methods.
    /// Nothing is reported.
    fn attributes_of(&mut self, class: usize) -> Rc<FxHashMap<&'t str, Value>> {
        if let Some(known) = self.attributes.get(&class) {
            return known.clone();
        }
        // The entry is inserted before evaluation, because a class may contain instances of itself.
        self.attributes.insert(class, Rc::default());
        let before = std::mem::take(&mut self.changed);
        self.quiet += 1;
        for base in self.program.lineage(class).into_iter().rev() {
            self.class_body(base, class);
            if let Some(init) = self.program.classes[base].methods.get("__init__").copied() {
                let node = self.program.functions[init].node;
                let mut values = Vec::new();
                for (position, parameter) in parameters(node, self.source).into_iter().enumerate() {
                    let value = match parameter.default {
                        _ if position == 0 => Value::Instance(class),
                        Some(default) => self.default_callee(default),
                        None => Value::Unknown,
                    };
                    values.push((parameter.name, value));
                }
                self.run(init, Some(class), values);
            }
        }
        self.quiet -= 1;
        let set = std::mem::replace(&mut self.changed, before);
        let own = set.into_iter().filter(|((of, _), _)| *of == class);
        let own: Rc<FxHashMap<_, _>> = Rc::new(own.map(|((_, name), value)| (name, value.kept())).collect());
        self.attributes.insert(class, own.clone());
        own
    }

    /// Returns the default of a parameter of `__init__` if it may be callable, or else `Unknown`.
    ///
    /// Most modules are created with their default norm or activation. Default numbers and
    /// flags are ignored, because callers often pass other values.
    fn default_callee(&mut self, default: Node<'t>) -> Value {
        match self.evaluate(default) {
            callee @ (Value::Function(_) | Value::Partial(_) | Value::Class(_)) => callee,
            Value::Name(path) if path.contains('.') => Value::Name(path),
            _ => Value::Unknown,
        }
    }

    /// Evaluates the assignments in the body of a class.
    fn class_body(&mut self, class: usize, of: usize) {
        let Some(body) = field(self.program.classes[class].node, "body") else { return };
        for statement in children(body).into_iter().filter(|child| child.kind() == "expression_statement") {
            let Some(assignment) = children(statement).into_iter().find(|child| child.kind() == "assignment")
            else {
                continue;
            };
            if let (Some(left), Some(right)) = (field(assignment, "left"), field(assignment, "right"))
                && left.kind() == "identifier"
            {
                let value = self.evaluate(right);
                self.changed.insert((of, text(left, self.source)), value);
            }
        }
    }
}
