//! Names: variables, and targets of assignments.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{bare, children, field};
use super::heap::{Object, Scope};
use super::library;
use super::machine::{Machine, Stop};
use super::value::{Ref, Value};

impl<'t> Machine<'t> {
    /// Returns the value of a variable; if the variable is unbound, returns a built-in name or `Unknown`.
    pub fn variable(&self, name: &str) -> Value<'t> {
        let Some(frame) = self.frames.last() else { return Value::Unknown };
        let mut scope = Some(frame.outer_names.get(name).copied().unwrap_or(frame.scope));
        while let Some(at) = scope {
            let Some(variables) = self.heap.scope(at) else { return Value::Unknown };
            if let Some(value) = variables.variables.get(name) {
                return value.clone();
            }
            if variables.open {
                return Value::Unknown;
            }
            scope = variables.parent;
        }
        if library::is_builtin(name) { Value::name(name) } else { Value::Unknown }
    }

    /// Records that a name of the `forward` of the running model is read.
    pub fn note_read(&mut self, name: &'t str) {
        let Some((root, _)) = &self.reads else { return };
        let mut scope = self.frames.last().map(|frame| frame.scope);
        while let Some(at) = scope.filter(|at| at != root) {
            let inner = self.heap.scope(at).filter(|scope| !scope.variables.contains_key(name));
            scope = inner.and_then(|scope| scope.parent);
        }
        if let (Some(_), Some((_, names))) = (scope, &mut self.reads) {
            names.insert(name);
        }
    }

    /// Returns false if the model ran and did not read the parameter `name` of its `forward`.
    pub fn may_read(&self, name: &str) -> bool {
        self.reads.as_ref().is_none_or(|(_, names)| names.contains(name))
    }

    /// Binds a variable in the current scope.
    pub fn set_variable(&mut self, name: &'t str, value: Value<'t>) {
        let Some(frame) = self.frames.last() else { return };
        let scope = frame.outer_names.get(name).copied().unwrap_or(frame.scope);
        self.bind_in(scope, name, value);
    }

    /// Binds a variable in a scope.
    pub fn bind_in(&mut self, scope: Ref, name: &str, value: Value<'t>) {
        if let Some(scope) = self.heap.scope_mut(scope) {
            scope.variables.insert(Rc::from(name), value);
        }
    }

    /// Returns a new scope inside of `parent`.
    pub fn inner_scope(&mut self, parent: Option<Ref>) -> Ref {
        self.heap.add(Object::Scope(Scope { parent, ..Scope::default() }))
    }

    /// Runs `global` and `nonlocal`.
    pub fn declare_outer(&mut self, node: Node<'t>) {
        let is_global = node.kind() == "global_statement";
        for name in children(node) {
            let name = self.text(name);
            let scope = self.outer_scope(name, is_global);
            if let (Some(scope), Some(frame)) = (scope, self.frames.last_mut()) {
                frame.outer_names.insert(name, scope);
            }
        }
    }

    fn outer_scope(&self, name: &str, is_global: bool) -> Option<Ref> {
        let mut at = self.heap.scope(self.frames.last()?.scope)?.parent;
        while let Some(scope) = at {
            let variables = self.heap.scope(scope)?;
            if variables.is_file || !is_global && variables.variables.contains_key(name) {
                return Some(scope);
            }
            at = variables.parent;
        }
        None
    }

    /// Binds a target to a value.
    pub fn assign(&mut self, target: Node<'t>, value: Value<'t>) -> Result<(), Stop> {
        match target.kind() {
            "identifier" => self.set_variable(self.text(target), value),
            "pattern_list" | "tuple_pattern" | "list_pattern" | "expression_list" | "tuple" | "list" => {
                let targets = children(target);
                self.check_unpacked(target, &targets, &value)?;
                return self.unpack(&targets, &value);
            }
            "attribute" => {
                let object = self.evaluate_optional(field(target, "object"))?;
                self.forget_holder(&object, target);
                self.forget_layer(target);
                if let Some(name) = field(target, "attribute") {
                    self.check_constructed(&object, &value, target)?;
                    self.set_attribute(&object, self.text(name), value);
                }
            }
            "subscript" => return self.assign_item(target, &value),
            "parenthesized_expression" | "as_pattern_target" => {
                let inner = bare(target);
                let inner = if inner == target { children(target).first().copied() } else { Some(inner) };
                return inner.map_or(Ok(()), |inner| self.assign(inner, value));
            }
            _ => {}
        }
        Ok(())
    }

    /// Forgets the layer whose parameter gets other elements: `layer.weight.data = …`.
    fn forget_layer(&mut self, target: Node<'t>) {
        let is_data = field(target, "attribute").is_some_and(|name| self.text(name) == "data");
        let parameter = field(target, "object").filter(|_| is_data);
        let layer = parameter.and_then(|parameter| field(parameter, "object"));
        if let Some(layer) = layer.and_then(|layer| self.evaluate(layer).ok()) {
            self.forget(&layer);
        }
    }

    /// Forgets the state of an object if an assignment changes an unknown part of it.
    ///
    /// For example, `net.features[0] = …` changes an unknown part of `net`.
    pub fn forget_holder(&mut self, part: &Value<'t>, target: Node<'t>) {
        if matches!(part, Value::Object(_) | Value::Tensor(_)) {
            return;
        }
        let mut root = target;
        while let Some(inner) =
            field(root, "object").or_else(|| field(root, "value")).or_else(|| field(root, "function"))
        {
            root = inner;
        }
        if root.kind() == "identifier" {
            let holder = self.variable(self.text(root));
            self.forget(&holder);
        }
    }

    fn unpack(&mut self, targets: &[Node<'t>], value: &Value<'t>) -> Result<(), Stop> {
        let items = self.iterated(value);
        let star = targets.iter().position(|target| target.kind() == "list_splat_pattern");
        for (at, target) in targets.iter().enumerate() {
            let item = match (&items, star) {
                (Some(items), None) if items.len() == targets.len() => items[at].clone(),
                (Some(items), Some(star)) if items.len() + 1 >= targets.len() => {
                    let more = items.len() + 1 - targets.len();
                    match at {
                        _ if at < star => items[at].clone(),
                        _ if at == star => self.list(items[star..star + more].to_vec()),
                        _ => items[at + more - 1].clone(),
                    }
                }
                (None, None) => self.element(value),
                _ => Value::Unknown,
            };
            let target = match target.kind() {
                "list_splat_pattern" => children(*target).first().copied().unwrap_or(*target),
                _ => *target,
            };
            self.assign(target, item)?;
        }
        Ok(())
    }

    /// Runs `del x`.
    pub fn delete(&mut self, node: Node<'t>) -> Result<(), Stop> {
        for target in children(node) {
            let targets = if target.kind() == "expression_list" { children(target) } else { vec![target] };
            for target in targets {
                match target.kind() {
                    "identifier" => self.set_variable(self.text(target), Value::Unknown),
                    "subscript" | "attribute" => {
                        let holder = field(target, "value").or_else(|| field(target, "object"));
                        let holder = self.evaluate_optional(holder)?;
                        self.forget(&holder);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
