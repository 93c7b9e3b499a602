//! The names in an ONNX text: definitions and uses.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::syntax::ast::{Attr, AttrSyntax, Declared, Graph, Model, Name, Node};
use crate::graph::syntax::cursor::Cursor;
use crate::graph::syntax::{Source, Span, text};

/// A value with the spans of its definition and uses.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: Arc<str>,
    /// First declaration other than that of a graph output; else first node output; else graph output.
    pub definition: Span,
    /// Every occurrence of the name, including the definition, in text order.
    pub places: Vec<Span>,
}

/// The operator of a node.
#[derive(Clone, Debug)]
pub struct Operator {
    pub domain: Arc<str>,
    pub name: Arc<str>,
    pub span: Span,
}

/// All names of a text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub values: Vec<Value>,
    pub operators: Vec<Operator>,
}

/// The values of one graph by name.
#[derive(Default)]
struct Scope {
    values: FxHashMap<Arc<str>, usize>,
}

impl Names {
    /// Collects the names of a text, as far as it can be parsed.
    pub fn of(source: &Source) -> Names {
        let mut cursor = Cursor::new(source, text::TEXT);
        let mut names = Names::default();
        if let Ok(model) = text::model(&mut cursor) {
            names.model(&model);
        }
        names.values.iter_mut().for_each(|value| {
            value.places.sort_unstable();
            value.places.dedup();
        });
        names
    }

    /// Returns the value whose name is at a byte offset.
    pub fn value_at(&self, offset: usize) -> Option<(&Value, Span)> {
        self.values.iter().find_map(|value| {
            let place = value.places.iter().find(|place| touches(place.range(), offset))?;
            Some((value, *place))
        })
    }

    /// Returns the operator whose name is at a byte offset.
    pub fn operator_at(&self, offset: usize) -> Option<&Operator> {
        self.operators.iter().find(|operator| touches(operator.span.range(), offset))
    }

    fn model(&mut self, model: &Model) {
        self.graph(&model.graph, &mut Vec::new());
        for function in &model.functions {
            let mut scopes = vec![Scope::default()];
            for declared in function.inputs.iter().chain(&function.outputs).chain(&function.values) {
                self.declare(declared, &mut scopes);
            }
            self.nodes(&function.nodes, &mut scopes);
        }
    }

    fn graph(&mut self, graph: &Graph, scopes: &mut Vec<Scope>) {
        scopes.push(Scope::default());
        for declared in graph.inputs.iter().chain(&graph.values) {
            self.declare(declared, scopes);
        }
        self.nodes(&graph.nodes, scopes);
        for declared in &graph.outputs {
            self.declare(declared, scopes);
        }
        scopes.pop();
    }

    fn nodes(&mut self, nodes: &[Node<AttrSyntax>], scopes: &mut Vec<Scope>) {
        for node in nodes {
            let op = &node.call.op;
            let (domain, name) = (op.domain.clone(), op.name.text.clone());
            self.operators.push(Operator { domain, name, span: op.span });
            for input in &node.call.inputs {
                self.used(&input.name, scopes);
            }
            for Attr { value, .. } in &node.call.attrs {
                self.attribute(value, scopes);
            }
            for output in &node.outputs {
                self.made(&output.name, scopes);
            }
        }
    }

    fn attribute(&mut self, value: &AttrSyntax, scopes: &mut Vec<Scope>) {
        match value {
            AttrSyntax::Graph(graph) => self.graph(graph, scopes),
            AttrSyntax::List(items) => items.iter().for_each(|item| self.attribute(item, scopes)),
            _ => {}
        }
    }

    fn declare(&mut self, declared: &Declared, scopes: &mut [Scope]) {
        self.made(&declared.name, scopes);
    }

    /// Records the definition or declaration of a value in the innermost graph.
    fn made(&mut self, name: &Name, scopes: &mut [Scope]) {
        let Some(scope) = scopes.last_mut().filter(|_| !name.text.is_empty()) else { return };
        match scope.values.get(&name.text) {
            Some(&at) => self.values[at].places.push(name.span),
            None => {
                scope.values.insert(name.text.clone(), self.values.len());
                let (text, definition) = (name.text.clone(), name.span);
                self.values.push(Value { name: text, definition, places: vec![definition] });
            }
        }
    }

    /// Records a use of a name. The use refers to the value in the innermost graph that defines the name.
    ///
    /// The use of an undefined name is ignored.
    fn used(&mut self, name: &Name, scopes: &[Scope]) {
        let known = scopes.iter().rev().find_map(|scope| scope.values.get(&name.text));
        if let Some(&at) = known {
            self.values[at].places.push(name.span);
        }
    }
}

fn touches(range: Range<usize>, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
g (float[N] x, bool c) => (float[N] y) {
  t = Neg (x)
  y = If (c) <then_branch = a () => (p) { p = Abs (t) }, else_branch = b () => (t) { t = Relu (x) }>
}";

    /// Returns the occurrences of the value at the `nth` occurrence of `word`.
    fn places(word: &str, nth: usize) -> Vec<usize> {
        let names = Names::of(&Source::new("", TEXT));
        let at = TEXT.match_indices(word).nth(nth).expect("the word is there").0;
        let (value, _) = names.value_at(at).expect("a value");
        value.places.iter().map(|place| TEXT[..place.start as usize].lines().count()).collect()
    }

    #[test]
    fn subgraph_uses_values_of_the_graphs_around_it() {
        assert_eq!(places("t = Neg", 0), [3, 4]);
        assert_eq!(places("x,", 0), [2, 3, 4]);
    }

    #[test]
    fn name_in_a_subgraph_shadows_an_outer_one() {
        assert_eq!(places("t = Relu", 0), [4, 4]);
    }

    #[test]
    fn operator_is_found_at_its_name() {
        let names = Names::of(&Source::new("", TEXT));
        let at = TEXT.find("Abs").expect("it is there");
        assert_eq!(names.operator_at(at + 1).map(|operator| &*operator.name), Some("Abs"));
    }
}
