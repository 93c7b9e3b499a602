//! Names of new values and nodes.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{GraphId, Model, NodeId, ValueId};

/// Generator of names that are unique in the model.
pub struct Names {
    taken: FxHashSet<Arc<str>>,
    /// Names that several values share.
    shared: FxHashSet<Arc<str>>,
    /// Names that several nodes share.
    shared_by_nodes: FxHashSet<Arc<str>>,
    /// Last number used for each name prefix.
    last: FxHashMap<String, u64>,
}

impl Names {
    /// Collects the names of a model.
    pub fn of(model: &Model) -> Self {
        let (mut taken, mut shared) = (FxHashSet::default(), FxHashSet::default());
        for (_, value) in model.values.iter() {
            if !taken.insert(value.name.clone()) {
                shared.insert(value.name.clone());
            }
        }
        let (mut of_nodes, mut shared_by_nodes) = (FxHashSet::default(), FxHashSet::default());
        let names = model.nodes.iter().filter_map(|(_, node)| node.name.as_ref());
        for name in names.filter(|name| !name.is_empty()) {
            if !of_nodes.insert(name.clone()) {
                shared_by_nodes.insert(name.clone());
            }
        }
        taken.extend(of_nodes);
        Names { taken, shared, shared_by_nodes, last: FxHashMap::default() }
    }

    /// Moves a value into another graph, and renames it if its name is not unique.
    /// Graphs that do not enclose each other may use the same names.
    pub fn move_value(&mut self, model: &mut Model, value: ValueId, graph: GraphId) {
        let name = model.values[value].name.clone();
        if self.shared.contains(&name) {
            model.values[value].name = self.fresh(&name, None);
        }
        model.values[value].graph = graph;
    }

    /// Moves a node into another graph, and renames it if its name is not unique.
    pub fn move_node(&mut self, model: &mut Model, node: NodeId, graph: GraphId) {
        if let Some(name) = model.nodes[node].name.clone().filter(|name| self.shared_by_nodes.contains(name))
        {
            model.nodes[node].name = Some(self.fresh(&name, None));
        }
        model.nodes[node].graph = graph;
    }

    /// Returns `{base}__{rule}_{n}` with the next unused n, or `{base}__{n}` without a rule.
    /// The name contains the rule in lower case, and `base` only up to its first `__`.
    pub fn fresh(&mut self, base: &str, rule: Option<&str>) -> Arc<str> {
        let base = base.split_once("__").map_or(base, |(base, _)| base);
        let infix = rule.map(|rule| format!("{}_", rule.to_lowercase())).unwrap_or_default();
        let start = format!("{base}__{infix}");
        let last = self.last.entry(start.clone()).or_default();
        let name: Arc<str> = loop {
            *last += 1;
            let name = format!("{start}{last}");
            if !self.taken.contains(name.as_str()) {
                break Arc::from(name);
            }
        };
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Def, Value};

    #[test]
    fn fresh_names_skip_existing_ones() {
        let mut model = Model::new();
        let graph = model.main;
        let name = Arc::from("y__opt101_1");
        model.values.push(Value { name, graph, def: Def::Missing, initial: None });
        let mut names = Names::of(&model);
        assert_eq!(&*names.fresh("y", Some("OPT101")), "y__opt101_2");
        assert_eq!(&*names.fresh("y__opt101_2", Some("OPT101")), "y__opt101_3");
        assert_eq!(&*names.fresh("y", None), "y__1");
    }
}
