//! Writes inferred types into the model: `value_info`, and types of inputs and outputs.

use rustc_hash::{FxHashMap, FxHashSet};

use super::declared;
use super::driver::Facts;
use super::fact::{Fact, TensorFact};
use super::shape::Size;
use crate::graph::dim::{Dim, Symbol};
use crate::graph::{
    DeclaredDim, DeclaredShape, Dimension, GraphId, Model, Node, Port, Type, TypeKind, ValueId, ValueInfo,
};

/// Declares inferred types in the main graph and its subgraphs; returns whether anything changed.
///
/// Updates the declared types of graph inputs and outputs. If the type of any other node output is known,
/// updates or adds its `value_info` entry, except for outputs of `Normalizer`. Existing declarations keep
/// their documentation and, except inside maps, their denotations and details that inference did not find.
/// Local functions are skipped, because their types may differ from call to call.
pub fn annotate(model: &mut Model, facts: &Facts) -> bool {
    let mut declarer = Declarer::new(facts);
    let of_model = model.graphs.ids().filter(|&graph| model.function_of(graph).is_none());
    let (repeated, once): (Vec<GraphId>, Vec<GraphId>) =
        of_model.partition(|&graph| is_repeated(model, graph));
    once.iter().chain(&repeated).for_each(|&graph| declarer.read(model, graph));
    let mut changed = false;
    for graph in once {
        changed |= declarer.graph(model, graph);
    }
    // A data-dependent size may differ between iterations; an invented name would declare it equal in all of
    // them.
    declarer.keeps_names = true;
    for graph in repeated {
        changed |= declarer.graph(model, graph);
    }
    changed
}

/// Returns true if the graph may run more than once: it is nested in a node other than `If`.
fn is_repeated(model: &Model, graph: GraphId) -> bool {
    model.holders(graph).any(|node| !model.nodes[node].is("If"))
}

/// Returns true if a `value_info` entry with the shape of the node's output breaks ONNX Runtime (1.31).
/// With a known shape, `Normalizer` runs in place, which squares the elements and loses their signs. The
/// fuzz test `tests/fuzz` found this fault of ONNX Runtime.
fn breaks_when_told(node: &Node) -> bool {
    node.domain() == "ai.onnx.ml" && &*node.op_type == "Normalizer"
}

/// Converts facts to declared types.
pub struct Declarer<'f> {
    facts: &'f Facts,
    /// Cache of converted sizes, since few distinct sizes occur in a model.
    written: FxHashMap<Dim, DeclaredDim>,
    /// Declared sizes, by the invented symbol that they replace.
    stated: FxHashMap<Symbol, Dim>,
    /// Sizes that are already declared: the values of `stated`, and the sizes of model inputs.
    taken: FxHashSet<Dim>,
    /// Sizes of model inputs.
    given: FxHashSet<Dim>,
    /// Invented symbols for which an output declares an expression or a name already taken.
    ///
    /// The disputed output keeps its declared size. No other value declares an invented name for the symbol,
    /// because a second run of `annotate` would replace the output's declared size by the invented name.
    disputed: FxHashSet<Symbol>,
    /// Whether a size keeps its declaration, or stays undeclared, if it contains an invented symbol
    /// that has no name yet in this pass.
    keeps_names: bool,
}

impl<'f> Declarer<'f> {
    fn new(facts: &'f Facts) -> Self {
        Declarer {
            facts,
            written: FxHashMap::default(),
            stated: FxHashMap::default(),
            taken: FxHashSet::default(),
            given: FxHashSet::default(),
            disputed: FxHashSet::default(),
            keeps_names: false,
        }
    }

    /// Creates a declarer for a single graph.
    pub fn of(model: &Model, graph: GraphId, facts: &'f Facts) -> Self {
        let mut declarer = Declarer { keeps_names: is_repeated(model, graph), ..Declarer::new(facts) };
        declarer.read(model, graph);
        declarer
    }

    /// Collects the sizes that a graph declares where inference invented symbols.
    fn read(&mut self, model: &Model, graph: GraphId) {
        for port in &model.graphs[model.main].inputs {
            let given = self.facts[port.value].dims().into_iter().flatten().flatten();
            self.given.extend(given.cloned());
        }
        self.taken.extend(self.given.iter().cloned());
        let graph = &model.graphs[graph];
        let inner = graph.inputs.iter().chain(&graph.value_info).map(|port| (port, false));
        for (port, is_output) in inner.chain(graph.outputs.iter().map(|port| (port, true))) {
            let (Fact::Tensor(fact), Some(ty)) = (&self.facts[port.value], &port.info.ty) else { continue };
            let (Some(sizes), TypeKind::Tensor { shape: Some(old), .. }) = (fact.shape.dims(), &ty.kind)
            else {
                continue;
            };
            for (size, old) in sizes.iter().zip(old) {
                let made = size.as_ref().and_then(Dim::as_symbol).filter(|made| self.facts.has_made(made));
                let stated = declared::size(&old.dim).filter(|stated| stated.as_const().is_none());
                let (Some(made), Some(stated)) = (made, stated) else { continue };
                let is_claim = is_output || self.facts.is_free(made);
                let is_new_name = stated.as_symbol().is_some() && !self.taken.contains(&stated);
                if self.stated.contains_key(made) {
                    continue;
                }
                if !is_claim || is_new_name {
                    self.taken.insert(stated.clone());
                    self.stated.insert(made.clone(), stated);
                } else if !self.facts.is_free(made) {
                    self.disputed.insert(made.clone());
                }
            }
        }
    }

    fn graph(&mut self, model: &mut Model, id: GraphId) -> bool {
        let (mut made, mut broken) = (Vec::new(), FxHashSet::default());
        for node in model.graphs[id].nodes.iter().map(|&node| &model.nodes[node]) {
            let outputs = node.outputs.iter().flatten().copied();
            if breaks_when_told(node) { broken.extend(outputs) } else { made.extend(outputs) }
        }
        let graph = &mut model.graphs[id];
        let mut changed = false;
        let inner = graph.value_info.iter_mut().filter(|port| !broken.contains(&port.value));
        for port in graph.inputs.iter_mut().chain(&mut graph.outputs).chain(inner) {
            changed |= self.declare(port);
        }
        let declared = graph.outputs.iter().chain(&graph.value_info).map(|port| port.value);
        let declared: FxHashSet<ValueId> = declared.collect();
        for value in made.into_iter().filter(|value| !declared.contains(value)) {
            let mut port = Port { value, info: ValueInfo::default() };
            if self.declare(&mut port) {
                graph.value_info.push(port);
                changed = true;
            }
        }
        changed
    }

    /// Updates the declared type of a port from its fact; returns whether it changed.
    pub fn declare(&mut self, port: &mut Port) -> bool {
        let Some(ty) = self.type_of(&self.facts[port.value], port.info.ty.as_ref()) else { return false };
        let changed = port.info.ty.as_ref() != Some(&ty);
        port.info.ty = Some(ty);
        changed
    }

    /// Converts a fact to a type, with the denotations of the old type (except inside maps).
    /// Returns `None` if a kind or an element type is unknown, and for opaque values.
    fn type_of(&mut self, fact: &Fact, old: Option<&Type>) -> Option<Type> {
        let mut inner = |fact: &Fact, old: Option<&Option<Box<Type>>>| {
            Some(Some(Box::new(self.type_of(fact, old.and_then(|old| old.as_deref()))?)))
        };
        let kind = match (fact, old.map(|old| &old.kind)) {
            (Fact::Tensor(tensor), old) => {
                let (elem, shape) = self.tensor_type(tensor, old)?;
                TypeKind::Tensor { elem, shape }
            }
            (Fact::SparseTensor(tensor), old) => {
                let (elem, shape) = self.tensor_type(tensor, old)?;
                TypeKind::SparseTensor { elem, shape }
            }
            (Fact::Sequence(of), Some(TypeKind::Sequence(old))) => TypeKind::Sequence(inner(of, Some(old))?),
            (Fact::Sequence(of), _) => TypeKind::Sequence(inner(of, None)?),
            (Fact::Optional(of), Some(TypeKind::Optional(old))) => TypeKind::Optional(inner(of, Some(old))?),
            (Fact::Optional(of), _) => TypeKind::Optional(inner(of, None)?),
            (Fact::Map { key, value }, _) => {
                TypeKind::Map { key: Some((*key)?.number()), value: inner(value, None)? }
            }
            (Fact::Unknown | Fact::Opaque, _) => return None,
        };
        Some(Type { kind, denotation: old.and_then(|old| old.denotation.clone()) })
    }

    fn tensor_type(
        &mut self,
        fact: &TensorFact,
        old: Option<&TypeKind>,
    ) -> Option<(Option<i32>, DeclaredShape)> {
        let old = match old {
            Some(TypeKind::Tensor { shape, .. } | TypeKind::SparseTensor { shape, .. }) => shape.as_deref(),
            _ => None,
        };
        let known_rank = fact.shape.rank();
        let old = old.filter(|old| known_rank.is_none_or(|rank| old.len() == rank));
        let dimension = |(axis, size): (usize, &Size)| {
            let old = old.and_then(|old| old.get(axis));
            Dimension { dim: self.dim(size, old), denotation: old.and_then(|old| old.denotation.clone()) }
        };
        let known: DeclaredShape =
            fact.shape.dims().map(|dims| dims.iter().enumerate().map(dimension).collect());
        Some((Some(fact.elem?.number()), known.or_else(|| old.map(<[Dimension]>::to_vec))))
    }

    fn dim(&mut self, size: &Size, old: Option<&Dimension>) -> DeclaredDim {
        let Some(dim) = size else { return old.map_or(DeclaredDim::Absent, |old| old.dim.clone()) };
        if let Some(value) = dim.as_const() {
            return DeclaredDim::Value(value);
        }
        if let Some(written) = self.written.get(dim) {
            return written.clone();
        }
        let is_made = |symbol: &Symbol| self.facts.has_made(symbol);
        let stated = old.map(|old| &old.dim).filter(|old| declared::size(old).is_some());
        let has_no_name =
            |symbol: &Symbol| is_made(symbol) && !self.written.contains_key(&Dim::from(symbol.clone()));
        let is_disputed =
            |symbol: &Symbol| self.disputed.contains(symbol) && !self.stated.contains_key(symbol);
        if self.keeps_names && dim.symbols().any(has_no_name) || dim.symbols().any(is_disputed) {
            return stated.cloned().unwrap_or(DeclaredDim::Absent);
        }
        // Keep a declared static size of a data-dependent axis, which may be correct. A declared static size
        // is wrong for a dynamic axis of a model input.
        let is_claim = dim.as_symbol().is_some_and(|symbol| match stated {
            Some(DeclaredDim::Value(_)) => !self.given.contains(dim),
            _ => is_made(symbol),
        });
        let called = |symbol: &Symbol| self.stated.get(symbol).or_else(|| self.facts.called(symbol));
        let named = dim.substitute(&|symbol| called(symbol).cloned());
        let named = named.as_ref().unwrap_or(dim);
        if let Some(stated) = stated.filter(|old| is_claim && declared::size(old).as_ref() != Some(named)) {
            return stated.clone();
        }
        let written =
            named.as_const().map_or_else(|| DeclaredDim::Param(named.to_string().into()), DeclaredDim::Value);
        self.written.insert(dim.clone(), written.clone());
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::{Options, infer};

    /// Annotates a graph and compares its declarations, as `name: type`, with `expected`.
    ///
    /// The order is inputs, outputs, `value_info`. Also checks that a second annotation changes nothing.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let header = "<ir_version: 10, opset_import: [\"\" : 21]>";
        let (model, findings) = crate::read::text::read(&format!("{header} {text}"));
        assert!(findings.is_empty(), "{findings:?}");
        let mut model = model.expect("a model");
        let facts = infer(&model, Options::default());
        annotate(&mut model, &facts);
        let again = infer(&model, Options::default());
        assert!(!annotate(&mut model, &again));
        let graph = &model.graphs[model.main];
        let ports = graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info);
        let said = ports.map(|port| {
            let ty = port.info.ty.as_ref().expect("declared");
            let fact = declared::fact(ty, &mut |_, dim| declared::size(dim));
            format!("{}: {fact}", model.values[port.value].name)
        });
        assert_eq!(said.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn declarations_are_completed_by_inferred_types() {
        check(
            "g (float[n, ?, 4] x) => (y) { z = Relu(x) y = Concat <axis = 0> (z, x) }",
            &["x: float[n, x_dim_1, 4]", "y: float[2*n, x_dim_1, 4]", "z: float[n, x_dim_1, 4]"],
        );
        check("g (float[n] x) => (int64[1, 7] y) { y = NonZero(x) }", &["x: float[n]", "y: int64[1, 7]"]);
        check(
            "g (float[n] x) => (int64[1, ?] y) { y = NonZero(x) }",
            &["x: float[n]", "y: int64[1, y_dim_1]"],
        );
        check("g (float[3] x) => (y) { y = SequenceConstruct(x, x) }", &["x: float[3]", "y: seq(float[3])"]);
    }

    #[test]
    fn normalizer_output_is_not_declared() {
        check(
            "g (float[2] x) => (y) { n = ai.onnx.ml.Normalizer(x)  y = Relu(n) }",
            &["x: float[2]", "y: float[2]"],
        );
        check(
            "g (float[2] x) => (y) <float[n] n> { n = ai.onnx.ml.Normalizer(x)  y = Relu(n) }",
            &["x: float[2]", "y: float[2]", "n: float[n]"],
        );
    }

    #[test]
    fn declared_size_name_is_used_in_derived_sizes() {
        check(
            "g (string[a] x) => (z) <string[a, parts] s> {
               two = Constant <value = int64[2] {-1, 1}> ()
               s, n = StringSplit(x)
               z = Reshape(s, two)
             }",
            &["x: string[a]", "z: string[a*parts, 1]", "s: string[a, parts]", "two: int64[2]", "n: int64[a]"],
        );
    }

    #[test]
    fn size_name_declared_by_output_is_used_upstream() {
        let check = |declared: &str, before: &str| {
            let text = format!(
                "g (float[a, b] x, int64[1] from) => (float[{declared}, d] y) <int64[1] zero = {{0}}, int64[1] end = {{-1}}, int64[1] one = {{1}}> {{
                   t = Slice(x, from, end)
                   y = Slice(t, zero, end, one)
                 }}"
            );
            let expected = [
                "x: float[a, b]".to_owned(),
                "from: int64[1]".to_owned(),
                format!("y: float[{declared}, max(1, b) - 1]"),
                format!("t: float[{before}, b]"),
            ];
            check(&text, &expected.each_ref().map(String::as_str));
        };
        check("c", "c");
        check("5", "t_dim_0");
        // The output declares the size `a` of the input, but inference cannot prove that the sizes are equal.
        check("a", "?");
    }

    #[test]
    fn dynamic_input_axes_are_kept_if_outputs_declare_static_sizes() {
        let check = |outputs: &str, expected: &[&str]| {
            check(
                &format!("g (float[?, 6] x, float[?, 6] z) => ({outputs}) {{ y = Relu(x) w = Neg(z) }}"),
                expected,
            );
        };
        check(
            "float[1, 6] y, float[M, 6] w",
            &["x: float[x_dim_0, 6]", "z: float[M, 6]", "y: float[x_dim_0, 6]", "w: float[M, 6]"],
        );
        // Declaring `z` and `w` as `M`, like `y`, would declare the sizes of `y` and `w` equal.
        check(
            "float[M, 6] y, float[M, 6] w",
            &["x: float[M, 6]", "z: float[z_dim_0, 6]", "y: float[M, 6]", "w: float[z_dim_0, 6]"],
        );
    }

    #[test]
    fn per_iteration_sizes_get_no_name() {
        check(
            "g (float[n] x, int32 w) => (float[?] s, y) { s, y = Scan <num_scan_inputs = 1, body = b \
             (float[?] t, float p) => (float[?] t, float[?] z) { z = HannWindow (w) }> (x, x) }",
            &["x: float[n]", "w: int32[]", "s: float[n]", "y: float[n, y_dim_1]"],
        );
    }
}
