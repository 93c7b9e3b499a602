//! Facts and uses of a model while it changes, recomputed incrementally.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::uses::Uses;
use crate::graph::{GraphId, Model, NodeId, ValueId, scopes};
use crate::infer::{self, Facts, News};

/// Maximum number of inferences of the whole model that changes in local functions cause.
/// Facts in a function depend on all of its calls. Beyond the limit, the previous facts are used until
/// [`Analysis::of_all`] is next called.
const MAX_RENEWALS: usize = 16;

/// Cached analyses, and the changes since they were computed.
#[derive(Default)]
pub(super) struct Analysis {
    known: Option<(Facts, Uses)>,
    /// Changes since the facts were computed, per graph.
    news: FxHashMap<GraphId, News>,
    /// Graphs that have changes since the facts were computed, in the graph or in one of its subgraphs.
    has_news: FxHashSet<GraphId>,
    /// Number of full re-inferences caused by functions since the last analysis of the whole model.
    renewals: usize,
    /// Number of node inferences for facts that have since been discarded.
    looked_at: usize,
    /// Whether nodes may have been removed, so that uses must be recounted.
    has_lost: bool,
}

impl Analysis {
    /// Discards all facts, because they may no longer hold; the next query recomputes them.
    pub fn forget(&mut self) {
        self.looked_at = self.looked_at();
        self.known = None;
        self.news.clear();
        self.has_news.clear();
    }

    /// Returns the number of node inferences.
    pub fn looked_at(&self) -> usize {
        self.looked_at + self.known.as_ref().map_or(0, |(facts, _)| facts.looked_at)
    }

    /// Records nodes that were added, or got other inputs, while all values stayed equal.
    pub fn note(&mut self, model: &Model, nodes: impl IntoIterator<Item = NodeId>) {
        for node in nodes {
            let graph = model.nodes[node].graph;
            self.news.entry(graph).or_default().nodes.insert(node);
            self.mark(model, graph);
        }
    }

    /// Records values that became constants.
    pub fn note_constants(&mut self, model: &Model, values: impl IntoIterator<Item = ValueId>) {
        for value in values {
            let graph = model.values[value].graph;
            self.news.entry(graph).or_default().values.insert(value);
            self.mark(model, graph);
        }
    }

    /// Records that unused nodes may have been removed.
    pub fn note_lost(&mut self) {
        self.has_lost = true;
    }

    fn mark(&mut self, model: &Model, graph: GraphId) {
        let mut around = Some(graph);
        while let Some(graph) = around.filter(|&graph| self.has_news.insert(graph)) {
            around = model.parent(graph);
        }
    }

    /// Returns the analyses of the whole model.
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

    /// Returns the last computed analyses, or computes them if they were discarded.
    /// Values added since the computation have no facts.
    pub fn as_it_was(&mut self, model: &Model) -> &(Facts, Uses) {
        self.get(model)
    }

    /// Returns the analyses, updated for a graph and its subgraphs.
    /// Facts of other graphs, and of functions beyond [`MAX_RENEWALS`], are true but may be outdated.
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

    /// Updates the analyses after the changes in a graph and its subgraphs.
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
        // Changed outputs of the graph are changes for the outer graph.
        let Some(around) = model.parent(graph) else { return };
        let given = model.graphs[graph].outputs.iter().map(|port| port.value);
        let given: Vec<ValueId> = given.filter(|value| news.values.contains(value)).collect();
        if !given.is_empty() {
            self.news.entry(around).or_default().values.extend(given);
            self.mark(model, around);
        }
    }
}
