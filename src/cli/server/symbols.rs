//! Symbols of a document: graphs, nodes and functions of ONNX text, and items of rule files.

use lsp_types::{DocumentSymbol, SymbolKind};

use super::document::Document;
use crate::graph::syntax::ast::{AttrSyntax, Declared, Function, Graph, Node};
use crate::graph::syntax::cursor::Cursor;
use crate::graph::syntax::{Source, Span, text};
use crate::rules::outline::docs_above;
use crate::rules::syntax::ast::{EntryKind, FnAst, RuleAst};
use crate::rules::syntax::parse;

/// Returns the symbols of an ONNX text, as far as it can be parsed.
pub fn in_model(source: &Source, document: &Document) -> Vec<DocumentSymbol> {
    let mut cursor = Cursor::new(source, text::TEXT);
    let Ok(model) = text::model(&mut cursor) else { return Vec::new() };
    let symbols = Symbols { document };
    let functions = model.functions.iter().map(|function| symbols.function(function));
    std::iter::once(symbols.graph(&model.graph)).chain(functions).collect()
}

/// Returns the symbols of a rule file.
pub fn in_rules(source: &Source, document: &Document) -> Vec<DocumentSymbol> {
    let (file, _) = parse(source);
    let symbols = Symbols { document };
    let definitions = file.functions.iter().chain(&file.patterns).map(|one| symbols.definition(one, source));
    let rules = file.rules.iter().map(|rule| symbols.rule(rule));
    let mut all: Vec<DocumentSymbol> = definitions.chain(rules).collect();
    all.sort_by_key(|symbol| symbol.range.start);
    all
}

struct Symbols<'d> {
    document: &'d Document,
}

impl Symbols<'_> {
    /// Creates a symbol of the span `whole`, whose name is at `name`.
    #[expect(deprecated, reason = "the field must be given")]
    fn symbol(&self, text: &str, kind: SymbolKind, detail: &str, whole: Span, name: Span) -> DocumentSymbol {
        DocumentSymbol {
            // Editors reject symbols without a name.
            name: if text.trim().is_empty() { "\"\"".to_owned() } else { text.to_owned() },
            detail: (!detail.is_empty()).then(|| detail.to_owned()),
            kind,
            tags: None,
            deprecated: None,
            range: self.document.range(whole.to(name).range()),
            selection_range: self.document.range(name.range()),
            children: None,
        }
    }

    fn graph(&self, graph: &Graph) -> DocumentSymbol {
        let symbol = self.symbol(&graph.name.text, SymbolKind::MODULE, "graph", graph.span, graph.name.span);
        let inputs = graph.inputs.iter().map(|input| self.declared(input, "input"));
        let values = graph.values.iter().filter(|value| value.tensor.is_some());
        let initializers = values.map(|value| self.declared(value, "initializer"));
        let nodes = graph.nodes.iter().map(|node| self.node(node));
        DocumentSymbol { children: Some(inputs.chain(initializers).chain(nodes).collect()), ..symbol }
    }

    fn function(&self, function: &Function) -> DocumentSymbol {
        let name = &function.name;
        let symbol = self.symbol(&name.text, SymbolKind::FUNCTION, "function", function.span, name.span);
        let inputs = function.inputs.iter().map(|input| self.declared(input, "input"));
        let nodes = function.nodes.iter().map(|node| self.node(node));
        DocumentSymbol { children: Some(inputs.chain(nodes).collect()), ..symbol }
    }

    fn declared(&self, declared: &Declared, role: &str) -> DocumentSymbol {
        let ty = self.document.text.get(declared.span.start as usize..declared.name.span.start as usize);
        let ty = format!("{role} {}", ty.unwrap_or("").trim());
        let kind = if declared.tensor.is_some() { SymbolKind::CONSTANT } else { SymbolKind::VARIABLE };
        self.symbol(&declared.name.text, kind, ty.trim_end(), declared.span, declared.name.span)
    }

    fn node(&self, node: &Node<AttrSyntax>) -> DocumentSymbol {
        let op = &node.call.op;
        let outputs = node.outputs.iter().map(|output| &*output.name.text).collect::<Vec<_>>().join(", ");
        let symbol = self.symbol(&outputs, SymbolKind::OPERATOR, &op.name.text, node.span, op.span);
        let subgraphs = node.call.attrs.iter().flat_map(|attr| match &attr.value {
            AttrSyntax::Graph(graph) => vec![self.graph(graph)],
            AttrSyntax::List(items) => items
                .iter()
                .filter_map(|item| match item {
                    AttrSyntax::Graph(graph) => Some(self.graph(graph)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        });
        let children: Vec<DocumentSymbol> = subgraphs.collect();
        DocumentSymbol { children: (!children.is_empty()).then_some(children), ..symbol }
    }

    fn definition(&self, function: &FnAst, source: &Source) -> DocumentSymbol {
        let docs = docs_above(&source.text[..function.span.start as usize]).0;
        let summary = docs.first().copied().unwrap_or("");
        let name = &function.name;
        self.symbol(&name.text, SymbolKind::FUNCTION, summary, function.span, name.span)
    }

    fn rule(&self, rule: &RuleAst) -> DocumentSymbol {
        let summary = rule.docs.lines().next().unwrap_or("").trim();
        let title = format!("{} {}", rule.code.text, rule.name.text);
        let symbol = self.symbol(&title, SymbolKind::CLASS, summary, rule.span, rule.code.span);
        let children = rule.entries.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Example(example) => {
                let (name, keyword) = (&example.name, &entry.keyword.text);
                Some(self.symbol(&name.text, SymbolKind::METHOD, keyword, entry.span, name.span))
            }
            EntryKind::Also(also) => {
                let title = format!("{} {}", also.code.text, also.name.text);
                Some(self.symbol(&title, SymbolKind::CLASS, "also", entry.span, also.code.span))
            }
            _ => None,
        });
        DocumentSymbol { children: Some(children.collect()), ..symbol }
    }
}
