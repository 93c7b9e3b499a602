//! Which value a name means, while a model is being built.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{GraphId, ValueId};
use super::model::{Def, Model, Value};

/// The names in scope: those of the innermost graph first, then of the graphs around it.
///
/// All names that a graph defines are to be registered before any use is resolved, so that nodes may
/// stand in any order. A name that is defined more than once, here or in a graph around, is a fault of the model; it is
/// then read in the order of the file: a use means the latest definition before it.
#[derive(Debug, Default)]
pub struct Scopes {
    stack: Vec<Scope>,
}

/// The names of one graph.
#[derive(Debug, Default)]
struct Scope {
    names: FxHashMap<Arc<str>, ValueId>,
    /// Names with several definitions whose first one is yet to come, with that.
    to_come: FxHashMap<Arc<str>, ValueId>,
    /// Names with several definitions.
    repeated: FxHashSet<Arc<str>>,
}

impl Scopes {
    /// Opens the scope of a graph inside the innermost one.
    pub fn enter(&mut self) {
        self.stack.push(Scope::default());
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        self.stack.pop();
    }

    /// Adds a value to the innermost graph. Of several inputs of one name, a use means the first; of several
    /// initializers the last, as in ONNX Runtime; outputs of nodes have their names from [`Scopes::reach`] on.
    pub fn define(&mut self, model: &mut Model, graph: GraphId, name: Arc<str>, def: Def) -> ValueId {
        let value = model.values.push(Value { name: name.clone(), graph, def, initial: None });
        let Some((scope, around)) = self.stack.split_last_mut() else { return value };
        let is_made = matches!(def, Def::Node { .. });
        let is_known = scope.names.contains_key(&name) || scope.to_come.contains_key(&name);
        if is_known || (is_made && around.iter().any(|scope| scope.defines(&name))) {
            scope.repeated.insert(name.clone());
            // Where the first definition is that of a node, too, nothing before that one has the name.
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

    /// Notes that what stands behind is behind the definition of an output of a node in the innermost graph.
    pub fn reach(&mut self, name: &Arc<str>, value: ValueId) {
        if let Some(scope) = self.stack.last_mut()
            && scope.repeated.contains(name)
        {
            scope.names.insert(name.clone(), value);
        }
    }

    /// The value that `name` means in the innermost graph alone.
    pub fn own(&self, name: &str) -> Option<ValueId> {
        self.stack.last()?.names.get(name).copied()
    }

    /// The value that `name` means here; one with [`Def::Missing`] is made where nothing defines it.
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

/// Makes equal strings share one allocation: operator names, metadata keys and stack traces repeat.
#[derive(Debug, Default)]
pub struct Interner {
    known: FxHashSet<Arc<str>>,
}

impl Interner {
    /// The one allocation that holds `text`.
    pub fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let text: Arc<str> = Arc::from(text);
        self.known.insert(text.clone());
        text
    }
}
