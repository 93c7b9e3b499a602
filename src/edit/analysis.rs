//! What is known of a model while it changes: facts and uses, found out anew only where changes reach.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, NodeId, ValueId, scopes};
use crate::infer::{self, Facts, News};

/// Nodes inside of local functions are inferred call by call, with all of the model. After so many times, what was
/// known before has to do until the next pass over the model.
const MAX_RENEWALS: usize = 16;

/// What is known, and what has changed since it was found out.
#[derive(Default)]
pub(super) struct Analysis {
    known: Option<(Facts, Uses)>,
    /// What is new, graph by graph.
    news: FxHashMap<GraphId, News>,
    /// The graphs with news in them, or in a body in them.
    has_news: FxHashSet<GraphId>,
    /// How often all was found out anew because of a function, since it was asked of the whole model.
    renewals: usize,
    /// How often nodes were looked at for what was forgotten since.
    looked_at: usize,
    /// Nodes went, so that uses have to be counted anew.
    has_lost: bool,
}

impl Analysis {
    /// Facts that hold no more, or may not: the next to ask finds out all anew.
    pub fn forget(&mut self) {
        self.looked_at = self.looked_at();
        self.known = None;
        self.news.clear();
        self.has_news.clear();
    }

    /// How often nodes were looked at.
    pub fn looked_at(&self) -> usize {
        self.looked_at + self.known.as_ref().map_or(0, |(facts, _)| facts.looked_at)
    }

    /// Notes nodes that came, or read something else, while every value stayed what it was.
    pub fn note(&mut self, model: &Model, nodes: impl IntoIterator<Item = NodeId>) {
        for node in nodes {
            let graph = model.nodes[node].graph;
            self.news.entry(graph).or_default().nodes.insert(node);
            self.mark(model, graph);
        }
    }

    /// Notes values that became constants.
    pub fn note_constants(&mut self, model: &Model, values: impl IntoIterator<Item = ValueId>) {
        for value in values {
            let graph = model.values[value].graph;
            self.news.entry(graph).or_default().values.insert(value);
            self.mark(model, graph);
        }
    }

    /// Notes that nodes went that nothing needed.
    pub fn note_lost(&mut self) {
        self.has_lost = true;
    }

    fn mark(&mut self, model: &Model, graph: GraphId) {
        let mut around = Some(graph);
        while let Some(graph) = around.filter(|&graph| self.has_news.insert(graph)) {
            around = model.parent(graph);
        }
    }

    /// What is known of the whole model.
    pub fn of_all(&mut self, model: &Model) -> &(Facts, Uses) {
        self.renewals = 0;
        let is_whole = |graph: &GraphId| model.function_of(*graph).is_none();
        if !self.has_news.iter().all(is_whole) {
            self.forget();
        }
        let is_old = !self.has_news.is_empty();
        if is_old {
            self.renew(model, model.main);
        }
        if let Some((_, uses)) = self.known.as_mut().filter(|_| is_old || self.has_lost) {
            *uses = Uses::new(model);
        }
        self.has_lost = false;
        self.get(model)
    }

    /// What is known of the model as it was when that was found out last; of values that came since, nothing.
    pub fn as_it_was(&mut self, model: &Model) -> &(Facts, Uses) {
        self.get(model)
    }

    /// What is known of a graph and the bodies in it; of the rest, what was known before.
    pub fn of_graph(&mut self, model: &Model, graph: GraphId) -> &(Facts, Uses) {
        if self.has_news.contains(&graph) {
            if model.function_of(graph).is_none() {
                self.renew(model, graph);
            } else if self.renewals < MAX_RENEWALS {
                self.renewals += 1;
                self.forget();
            }
        }
        self.get(model)
    }

    fn get(&mut self, model: &Model) -> &(Facts, Uses) {
        let new = || (infer::infer(model, infer::Options::default()), Uses::new(model));
        self.known.get_or_insert_with(new)
    }

    /// Infers anew what the news in a graph and the bodies in it reach there.
    fn renew(&mut self, model: &Model, graph: GraphId) {
        let Some((facts, mut uses)) = self.known.take() else { return };
        let graphs = scopes::nested(model, graph);
        let mut news = News::default();
        for graph in &graphs {
            self.has_news.remove(graph);
            let own = self.news.remove(graph).unwrap_or_default();
            news.nodes.extend(own.nodes);
            news.values.extend(own.values);
        }
        let facts = infer::update(model, facts, graph, &mut news);
        uses.renew(model, &graphs);
        self.known = Some((facts, uses));
        // What the graph gives is news to the one around it.
        let Some(around) = model.parent(graph) else { return };
        let given = model.graphs[graph].outputs.iter().map(|port| port.value);
        let given: Vec<ValueId> = given.filter(|value| news.values.contains(value)).collect();
        if !given.is_empty() {
            self.news.entry(around).or_default().values.extend(given);
            self.mark(model, around);
        }
    }
}
