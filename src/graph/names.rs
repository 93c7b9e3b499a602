//! Name resolution and string interning during model construction.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{GraphId, ValueId};
use super::model::{Def, Initial, Model, Value};

/// Stack of name scopes, searched from the innermost graph outward.
///
/// All names of a graph must be defined before uses are resolved, so that nodes may come in any order.
#[derive(Debug, Default)]
pub struct Scopes {
    stack: Vec<Scope>,
}

/// The names of one graph.
#[derive(Debug, Default)]
struct Scope {
    names: FxHashMap<Arc<str>, ValueId>,
    /// First definition in this graph of each repeated name that only node outputs define here.
    /// A use before all definitions refers to the first definition, unless an outer graph defines the name.
    to_come: FxHashMap<Arc<str>, ValueId>,
    /// Names with several definitions, in this graph or in outer graphs.
    /// A use of a repeated name refers to the latest definition before the use.
    repeated: FxHashSet<Arc<str>>,
}

impl Scopes {
    /// Pushes a scope for a nested graph.
    pub fn enter(&mut self) {
        self.stack.push(Scope::default());
    }

    /// Pops the innermost scope.
    pub fn leave(&mut self) {
        self.stack.pop();
    }

    /// Defines a value in the innermost graph.
    /// A use of a repeated name resolves to the latest definition before the use in this graph. A use before
    /// all definitions resolves to a definition in an outer graph, or else to the first one in this graph.
    /// Each definition creates a value, so that a later check can report the duplicates.
    pub fn define(&mut self, model: &mut Model, graph: GraphId, name: Arc<str>, def: Def) -> ValueId {
        let value = model.values.push(Value { name: name.clone(), graph, def, initial: None });
        let Some((scope, around)) = self.stack.split_last_mut() else { return value };
        let is_made = matches!(def, Def::Node { .. });
        let is_known = scope.names.contains_key(&name) || scope.to_come.contains_key(&name);
        if is_known || (is_made && around.iter().any(|scope| scope.defines(&name))) {
            scope.repeated.insert(name.clone());
            // If the first definition is a node output, a use may precede all definitions in this graph,
            // and then refers to a definition in an outer graph, if there is one.
            let first = scope.names.get(&name).copied();
            let is_first_made = |first| matches!(model.values[first].def, Def::Node { .. });
            match first {
                Some(_) if def == Def::Initializer => drop(scope.names.insert(name, value)),
                Some(first) if is_first_made(first) => {
                    scope.names.remove(&name);
                    scope.to_come.insert(name, first);
                }
                None => drop(scope.to_come.entry(name).or_insert(value)),
                Some(_) => {}
            }
        } else {
            scope.names.insert(name, value);
        }
        value
    }

    /// Stores a tensor as the default of the graph input of this name, or else as a new initializer.
    ///
    /// If several tensors have the name of an input, the last is the default, as in ONNX Runtime. The earlier
    /// tensors become unused initializers, so that a later check can report the duplicates.
    pub fn initialize(
        &mut self,
        model: &mut Model,
        graph: GraphId,
        name: &Arc<str>,
        initial: Initial,
    ) -> ValueId {
        let input = self.own(name).filter(|&value| matches!(model.values[value].def, Def::Input(_)));
        let unstored = match input {
            Some(input) => model.values[input].initial.replace(initial),
            None => Some(initial),
        };
        let value = match (input, &unstored) {
            (Some(input), None) => return input,
            _ => self.define(model, graph, name.clone(), Def::Initializer),
        };
        model.values[value].initial = unstored;
        if let Some(input) = input {
            self.reach(name, input);
        }
        value
    }

    /// Marks a node output as defined: later uses of a repeated name refer to it.
    pub fn reach(&mut self, name: &Arc<str>, value: ValueId) {
        if let Some(scope) = self.stack.last_mut()
            && scope.repeated.contains(name)
        {
            scope.names.insert(name.clone(), value);
        }
    }

    /// Returns the value named `name` in the innermost graph only.
    pub fn own(&self, name: &str) -> Option<ValueId> {
        self.stack.last()?.names.get(name).copied()
    }

    /// Resolves `name`; creates a value with [`Def::Missing`] if it is undefined.
    pub fn resolve(&mut self, model: &mut Model, graph: GraphId, name: &Arc<str>) -> ValueId {
        let scopes = || self.stack.iter().rev();
        let found = scopes().find_map(|scope| scope.names.get(name));
        match found.or_else(|| scopes().find_map(|scope| scope.to_come.get(name))) {
            Some(&value) => value,
            None => self.define(model, graph, name.clone(), Def::Missing),
        }
    }
}

impl Scope {
    fn defines(&self, name: &str) -> bool {
        self.names.contains_key(name) || self.to_come.contains_key(name)
    }
}

/// String interner, for operator names, metadata keys and stack traces, which repeat.
#[derive(Debug, Default)]
pub struct Interner {
    known: FxHashSet<Arc<str>>,
}

impl Interner {
    /// Returns the shared allocation of `text`.
    pub fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let text: Arc<str> = Arc::from(text);
        self.known.insert(text.clone());
        text
    }
}
