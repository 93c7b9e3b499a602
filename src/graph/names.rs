//! Name resolution and string interning during model construction.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{GraphId, ValueId};
use super::model::{Def, Model, Value};

/// Stack of name scopes, searched from the innermost graph outward.
///
/// All names of a graph must be defined before uses are resolved, so that nodes may come in any order.
#[derive(Debug, Default)]
pub struct Scopes {
    stack: Vec<FxHashMap<Arc<str>, ValueId>>,
}

impl Scopes {
    /// Pushes a scope for a nested graph.
    pub fn enter(&mut self) {
        self.stack.push(FxHashMap::default());
    }

    /// Pops the innermost scope.
    pub fn leave(&mut self) {
        self.stack.pop();
    }

    /// Defines a value in the innermost graph.
    /// If the name is taken, it keeps resolving to the first value. The duplicate definition is reported
    /// later, because two values share a name.
    pub fn define(&mut self, model: &mut Model, graph: GraphId, name: Arc<str>, def: Def) -> ValueId {
        let value = model.values.push(Value { name: name.clone(), graph, def, initial: None });
        if let Some(scope) = self.stack.last_mut() {
            scope.entry(name).or_insert(value);
        }
        value
    }

    /// Returns the value named `name` in the innermost graph only.
    pub fn own(&self, name: &str) -> Option<ValueId> {
        self.stack.last()?.get(name).copied()
    }

    /// Resolves `name`; creates a value with [`Def::Missing`] if it is undefined.
    pub fn resolve(&mut self, model: &mut Model, graph: GraphId, name: &Arc<str>) -> ValueId {
        let found = self.stack.iter().rev().find_map(|scope| scope.get(name));
        match found {
            Some(&value) => value,
            None => self.define(model, graph, name.clone(), Def::Missing),
        }
    }
}

/// String interner: operator names, metadata keys and stack traces repeat.
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
