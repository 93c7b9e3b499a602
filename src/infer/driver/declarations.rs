//! Declared types of values, and their combination with inferred facts.

use rustc_hash::FxHashMap;

use super::{Contradiction, Driver, Facts};
use crate::graph::{GraphId, Id, Model, Port, Type, ValueId};
use crate::infer::declared;
use crate::infer::fact::Fact;

impl Facts {
    /// Returns the graph outputs whose declared types complete their facts, with the completed facts.
    ///
    /// The completed facts hold only if the declarations are correct.
    /// Returns nothing for the graph of a local function.
    pub fn claimed(&self, model: &Model, graph: GraphId) -> Vec<(ValueId, Fact)> {
        if model.function_of(graph).is_some() {
            return Vec::new();
        }
        let claim = |port: &Port| {
            let fact = &self[port.value];
            let said = declared_fact(port.info.ty.as_ref()?);
            fact.meet(&said, &self.bounds).ok()?;
            let known = self.symbols.without_unknown(fact);
            let claimed = declared::fill(declared::fill(known, &said), fact);
            (claimed != *fact).then_some((port.value, claimed))
        };
        model.graphs[graph].outputs.iter().filter_map(claim).collect()
    }

    /// Completes the facts of the outputs of a graph by their declarations, which the caller must trust.
    pub fn trusting_outputs(mut self, model: &Model, graph: GraphId) -> Self {
        for (value, claimed) in self.claimed(model, graph) {
            self.facts[value.index()] = claimed;
        }
        self
    }
}

impl<'m> Driver<'m> {
    /// Returns the types declared in `value_info` and at the outputs of a graph.
    ///
    /// Declarations in local functions are ignored, since they need not hold for every call.
    pub(super) fn declared_types(&self, id: GraphId) -> Declarations<'m> {
        if !self.options.use_declared || self.model.function_of(id).is_some() {
            return Declarations::default();
        }
        let graph = &self.model.graphs[id];
        let source = self.output_source(id);
        let inner = graph.value_info.iter().map(|port| (port, Source::ValueInfo));
        let ports = inner.chain(graph.outputs.iter().map(|port| (port, source)));
        ports.filter_map(|(port, source)| Some((port.value, Declaration::of(port, source)?))).collect()
    }

    /// Returns whether runtimes check the declared output shapes of a graph, as a [`Source`].
    ///
    /// ONNX Runtime fails if an output of a subgraph of `If` or `Scan` contradicts its declared shape.
    /// ONNX Runtime does not check the output shapes of the main graph and of subgraphs of `Loop`.
    fn output_source(&self, graph: GraphId) -> Source {
        let holder = self.model.holders(graph).next().map(|node| &self.model.nodes[node]);
        match holder.is_some_and(|node| node.is("If") || node.is("Scan")) {
            true => Source::CheckedOutput,
            false => Source::UncheckedOutput,
        }
    }

    /// Completes an inferred fact by the declared type, or records a contradiction between them.
    pub(super) fn checked(
        &mut self,
        fact: Fact,
        value: ValueId,
        graph: GraphId,
        declared: &Declarations<'m>,
    ) -> Fact {
        let Some(&Declaration { ty, source }) = declared.get(&value) else { return fact };
        let said = declared_fact(ty);
        match fact.meet(&said, &self.bounds) {
            Ok(_) => {
                self.contradictions.shift_remove(&(graph, value));
                let known = match source {
                    Source::UncheckedOutput => return declared::fill(fact, &said.without_shapes()),
                    Source::CheckedOutput => self.symbols.without_free(&self.symbols.without_unknown(&fact)),
                    Source::ValueInfo => self.symbols.without_unknown(&fact),
                };
                let filled = declared::fill(declared::fill(known, &said), &fact);
                self.symbols.learn_names(&fact, &filled);
                filled
            }
            Err(what) => {
                let inferred = fact.clone();
                let contradiction = Contradiction { value, graph, declared: said, inferred, what };
                self.contradictions.insert((graph, value), contradiction);
                fact
            }
        }
    }

    /// Checks the declaration of an output that is an input, an initializer or a capture of its graph.
    pub(super) fn compare(&mut self, port: &'m Port, graph: GraphId) {
        let by_node =
            self.model.producer(port.value).is_some_and(|(node, _)| self.model.nodes[node].graph == graph);
        let source = self.output_source(graph);
        if let (false, Some(ty)) = (by_node, &port.info.ty) {
            let declared = Declarations::from_iter([(port.value, Declaration { ty, source })]);
            let fact = self.facts[port.value.index()].clone();
            self.checked(fact, port.value, graph, &declared);
        }
    }
}

/// Declared types of the values of a graph.
pub(super) type Declarations<'m> = FxHashMap<ValueId, Declaration<'m>>;

/// Declared type of a value.
#[derive(Clone, Copy)]
pub(super) struct Declaration<'m> {
    ty: &'m Type,
    source: Source,
}

/// Source of a declaration, which determines how far it is trusted.
#[derive(Clone, Copy)]
enum Source {
    /// An entry of `value_info`, which is trusted where inference finds nothing.
    ValueInfo,
    /// An output whose shape runtimes check, so that its declared shape holds in every successful run.
    CheckedOutput,
    /// An output whose shape runtimes do not check. The declared shape is ignored, because some exporters
    /// declare wrong shapes.
    UncheckedOutput,
}

impl<'m> Declaration<'m> {
    fn of(port: &'m Port, source: Source) -> Option<Self> {
        Some(Declaration { ty: port.info.ty.as_ref()?, source })
    }
}

/// Converts a declared type to a fact, with named dimensions as symbols.
pub(super) fn declared_fact(ty: &Type) -> Fact {
    declared::fact(ty, &mut |_, dim| declared::size(dim))
}
