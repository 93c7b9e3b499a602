//! Which value a name means, while a model is being built.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{GraphId, ValueId};
use super::model::{Def, Model, Value};

/// The names in scope: those of the innermost graph first, then of the graphs around it.
///
/// All names that a graph defines are to be registered before any use is resolved, so that nodes may
/// stand in any order.
#[derive(Debug, Default)]
pub struct Scopes {
    stack: Vec<FxHashMap<Arc<str>, ValueId>>,
}

impl Scopes {
    /// Opens the scope of a graph inside the innermost one.
    pub fn enter(&mut self) {
        self.stack.push(FxHashMap::default());
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) {
        self.stack.pop();
    }

    /// Adds a value to the innermost graph. Where the name is taken already, the first value keeps it:
    /// the second definition is a fault that is found by the values having equal names.
    pub fn define(&mut self, model: &mut Model, graph: GraphId, name: Arc<str>, def: Def) -> ValueId {
        let value = model.values.push(Value { name: name.clone(), graph, def, initial: None });
        if let Some(scope) = self.stack.last_mut() {
            scope.entry(name).or_insert(value);
        }
        value
    }

    /// The value that `name` means in the innermost graph alone.
    pub fn own(&self, name: &str) -> Option<ValueId> {
        self.stack.last()?.get(name).copied()
    }

    /// The value that `name` means here; one with [`Def::Missing`] is made where nothing defines it.
    pub fn resolve(&mut self, model: &mut Model, graph: GraphId, name: &Arc<str>) -> ValueId {
        let found = self.stack.iter().rev().find_map(|scope| scope.get(name));
        match found {
            Some(&value) => value,
            None => self.define(model, graph, name.clone(), Def::Missing),
        }
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
