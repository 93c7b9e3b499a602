//! Lowers a syntax tree to a model and resolves names to values.

use std::sync::Arc;

use bytes::Bytes;

use crate::graph::names::Scopes;
use crate::graph::{
    Arena, AttrKind, AttrValue, Attribute, Def, Function, Graph, GraphId, Initial, Model, Node, NodeId,
    Owner, Port, Tensor, TensorId, Type, ValueId, ValueInfo,
};

use super::ast::{self, AttrSyntax, Declared};
use super::cursor::Cursor;
use super::text_spans::{NodeParts, TextSpans};

/// Builds the model that `ast` describes.
/// Reports an error to `cursor` for each attribute whose value does not fit its kind.
pub fn model(cursor: &mut Cursor, ast: ast::Model) -> (Model, TextSpans) {
    let mut lower = Lower::new(cursor);
    let ast::Header { ir_version, opsets, producer_name, producer_version, domain, .. } = ast.header;
    lower.model = Model {
        ir_version,
        opsets,
        producer_name,
        producer_version,
        domain,
        model_version: ast.header.model_version,
        doc: ast.header.doc,
        metadata: ast.header.metadata,
        graphs: Arena::default(),
        ..Model::new()
    };
    lower.model.main = lower.graph(ast.graph, Owner::Model);
    for function in ast.functions {
        lower.function(function);
    }
    (lower.model, lower.spans)
}

struct Lower<'c, 's> {
    cursor: &'c mut Cursor<'s>,
    model: Model,
    scopes: Scopes,
    spans: TextSpans,
}

impl<'c, 's> Lower<'c, 's> {
    fn new(cursor: &'c mut Cursor<'s>) -> Self {
        let spans = TextSpans::new(cursor.source);
        Lower { cursor, model: Model::new(), scopes: Scopes::default(), spans }
    }

    fn graph(&mut self, ast: ast::Graph, owner: Owner) -> GraphId {
        let id = self.model.graphs.push(Graph::new(owner));
        self.spans.graph(id, ast.name.span);
        self.scopes.enter();
        let (inputs, mut initializers) = self.inputs(id, ast.inputs);
        let (with_tensor, infos): (Vec<_>, Vec<_>) =
            ast.values.into_iter().partition(|value| value.tensor.is_some());
        for declared in with_tensor {
            initializers.extend(self.initializer(id, declared));
        }
        let nodes = self.nodes(id, ast.nodes);
        let value_info = self.ports(id, infos);
        let outputs = self.ports(id, ast.outputs);
        let graph = Graph {
            name: Some(ast.name.text),
            inputs,
            initializers,
            nodes,
            value_info,
            outputs,
            ..Graph::new(owner)
        };
        self.scopes.leave();
        self.model.graphs[id] = graph;
        id
    }

    /// Lowers a function. Types declared at inputs and outputs become value infos of the function's graph.
    fn function(&mut self, ast: ast::Function) {
        let owner = Owner::Function(self.model.functions.len());
        let body = self.model.graphs.push(Graph::new(owner));
        self.spans.graph(body, ast.name.span);
        self.scopes.enter();
        let ports = ast.inputs.iter().chain(&ast.outputs);
        let typed = ports.filter(|port| port.ty.is_some()).cloned().chain(ast.values).collect();
        let (inputs, _) = self.inputs(body, untyped(ast.inputs));
        let nodes = self.nodes(body, ast.nodes);
        let graph = Graph {
            inputs,
            nodes,
            value_info: self.ports(body, typed),
            outputs: self.ports(body, untyped(ast.outputs)),
            doc: ast.header.doc,
            ..Graph::new(owner)
        };
        self.model.graphs[body] = graph;
        let function = Function {
            name: Some(ast.name.text),
            domain: ast.header.domain,
            overload: ast.header.overload,
            body,
            attributes: ast.attributes.into_iter().map(|name| name.text).collect(),
            attribute_defaults: ast
                .defaults
                .into_iter()
                .filter_map(|attr| self.attribute(attr, None))
                .collect(),
            opsets: ast.header.opsets,
        };
        self.scopes.leave();
        self.model.functions.push(function);
    }

    /// Lowers graph inputs; also returns those that have a default.
    fn inputs(&mut self, graph: GraphId, inputs: Vec<Declared>) -> (Vec<Port>, Vec<ValueId>) {
        let mut ports = Vec::with_capacity(inputs.len());
        let mut defaults = Vec::new();
        for (index, declared) in inputs.into_iter().enumerate() {
            let def = Def::Input(index as u32);
            let value = self.scopes.define(&mut self.model, graph, declared.name.text, def);
            self.spans.value(value, declared.span);
            if let Some(tensor) = declared.tensor {
                self.model.values[value].initial = Some(Initial::Dense(self.model.tensors.push(tensor)));
                defaults.push(value);
            }
            ports.push(Port { value, info: info(declared.ty) });
        }
        (ports, defaults)
    }

    fn initializer(&mut self, graph: GraphId, declared: Declared) -> Option<ValueId> {
        let tensor = declared.tensor?;
        let name = declared.name.text;
        let initial = Initial::Dense(self.model.tensors.push(tensor));
        let value = self.scopes.initialize(&mut self.model, graph, &name, initial);
        self.spans.value(value, declared.span);
        Some(value)
    }

    fn ports(&mut self, graph: GraphId, declared: Vec<Declared>) -> Vec<Port> {
        let port = |declared: Declared| {
            let value = self.scopes.resolve(&mut self.model, graph, &declared.name.text);
            self.spans.value(value, declared.span);
            Port { value, info: info(declared.ty) }
        };
        declared.into_iter().map(port).collect()
    }

    /// Lowers nodes in two passes: first definitions, then uses.
    fn nodes(&mut self, graph: GraphId, nodes: Vec<ast::Node<AttrSyntax>>) -> Vec<NodeId> {
        let mut ids = Vec::with_capacity(nodes.len());
        let mut uses = Vec::with_capacity(nodes.len());
        for ast in nodes {
            let id = self.model.nodes.push(node(graph, &ast));
            self.spans.node(id, NodeParts::of(&ast));
            let output = |(index, operand): (usize, &ast::Operand)| {
                let def = Def::Node { node: id, output: index as u32 };
                let name = operand.name.text.clone();
                (!name.is_empty()).then(|| self.scopes.define(&mut self.model, graph, name, def))
            };
            let outputs = ast.outputs.iter().enumerate().map(output).collect();
            self.model.nodes[id].outputs = outputs;
            uses.push((ast.call.inputs, ast.call.attrs));
            ids.push(id);
        }
        for (&id, (inputs, attrs)) in ids.iter().zip(uses) {
            let input = |operand: ast::Operand| {
                let name = operand.name.text;
                (!name.is_empty()).then(|| self.scopes.resolve(&mut self.model, graph, &name))
            };
            self.model.nodes[id].inputs = inputs.into_iter().map(input).collect();
            let attrs = attrs.into_iter().filter_map(|attr| self.attribute(attr, Some(id))).collect();
            self.model.nodes[id].attrs = attrs;
            for &output in self.model.nodes[id].outputs.iter().flatten() {
                self.scopes.reach(&self.model.values[output].name, output);
            }
        }
        ids
    }

    /// Lowers an attribute; reports an error and returns `None` if its value does not fit its kind.
    /// `owner` is the node that will own subgraphs in the value.
    fn attribute(&mut self, attr: ast::Attr<AttrSyntax>, owner: Option<NodeId>) -> Option<Attribute> {
        let (kind, span) = (attr.kind, attr.span);
        let found = match attr.value {
            AttrSyntax::List(items) => self.list(items, kind, owner),
            single => self.single(single, kind, owner),
        };
        let value = found.filter(|value| kind.is_none() || value.kind() == kind);
        if value.is_none() {
            let wanted = kind.map_or("of one kind".to_owned(), |kind| format!("of kind {}", kind.name()));
            self.cursor.fault(span, format!("the value of `{}` is not {wanted}", attr.name.text));
        }
        Some(Attribute::new(&attr.name.text, value?))
    }

    /// Lowers a single value; an integer literal becomes a float if a float is declared.
    fn single(
        &mut self,
        value: AttrSyntax,
        kind: Option<AttrKind>,
        owner: Option<NodeId>,
    ) -> Option<AttrValue> {
        Some(match value {
            AttrSyntax::Int(int) if kind == Some(AttrKind::Float) => AttrValue::Float(int as f32),
            AttrSyntax::Int(int) => AttrValue::Int(int),
            AttrSyntax::Float(float) => AttrValue::Float(float),
            AttrSyntax::String(text) => AttrValue::String(bytes(&text)),
            AttrSyntax::Tensor(tensor) => AttrValue::Tensor(self.tensor(*tensor)),
            AttrSyntax::Type(ty) => AttrValue::Type(ty),
            AttrSyntax::Ref(name) => AttrValue::Ref { name: name.text, kind },
            AttrSyntax::Graph(graph) => AttrValue::Graph(self.graph(*graph, Owner::Node(owner?))),
            AttrSyntax::List(_) => return None,
        })
    }

    /// Lowers a list of the declared kind, or else of the kind of its first item.
    /// Integers become floats if floats are declared, or if any item is a float.
    fn list(
        &mut self,
        items: Vec<AttrSyntax>,
        kind: Option<AttrKind>,
        owner: Option<NodeId>,
    ) -> Option<AttrValue> {
        let any_float = items.iter().any(|item| matches!(item, AttrSyntax::Float(_)));
        let inferred = match items.first() {
            Some(AttrSyntax::Int(_) | AttrSyntax::Float(_)) if any_float => Some(AttrKind::Floats),
            Some(AttrSyntax::Int(_)) => Some(AttrKind::Ints),
            Some(AttrSyntax::String(_)) => Some(AttrKind::Strings),
            Some(AttrSyntax::Tensor(_)) => Some(AttrKind::Tensors),
            Some(AttrSyntax::Type(_)) => Some(AttrKind::Types),
            Some(AttrSyntax::Graph(_)) => Some(AttrKind::Graphs),
            _ => None,
        };
        let item_kind = (kind == Some(AttrKind::Floats) || any_float).then_some(AttrKind::Float);
        let mut values = items.into_iter().map(|item| self.single(item, item_kind, owner));
        Some(match kind.or(inferred)? {
            AttrKind::Floats => {
                AttrValue::Floats(values.map(|value| value?.as_float()).collect::<Option<_>>()?)
            }
            AttrKind::Ints => AttrValue::Ints(values.map(|value| value?.as_int()).collect::<Option<_>>()?),
            AttrKind::Tensors => {
                AttrValue::Tensors(values.map(|value| value?.as_tensor()).collect::<Option<_>>()?)
            }
            AttrKind::Strings => AttrValue::Strings(
                values
                    .map(|value| if let AttrValue::String(text) = value? { Some(text) } else { None })
                    .collect::<Option<_>>()?,
            ),
            AttrKind::Types => AttrValue::Types(
                values
                    .map(|value| if let AttrValue::Type(ty) = value? { Some(*ty) } else { None })
                    .collect::<Option<_>>()?,
            ),
            AttrKind::Graphs => AttrValue::Graphs(
                values
                    .map(|value| if let AttrValue::Graph(graph) = value? { Some(graph) } else { None })
                    .collect::<Option<_>>()?,
            ),
            AttrKind::SparseTensors if values.next().is_none() => AttrValue::SparseTensors(Vec::new()),
            _ => return None,
        })
    }

    fn tensor(&mut self, tensor: Tensor) -> TensorId {
        self.model.tensors.push(tensor)
    }
}

fn untyped(declared: Vec<Declared>) -> Vec<Declared> {
    declared.into_iter().map(|port| Declared { ty: None, ..port }).collect()
}

fn info(ty: Option<Type>) -> ValueInfo {
    ValueInfo { ty, ..ValueInfo::default() }
}

fn bytes(text: &Arc<str>) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// Creates a node without inputs, outputs or attributes.
fn node(graph: GraphId, ast: &ast::Node<AttrSyntax>) -> Node {
    let op = &ast.call.op;
    Node {
        domain: (!op.domain.is_empty()).then(|| op.domain.clone()),
        overload: op.overload.as_ref().map(|overload| overload.text.clone()),
        name: ast.name.as_ref().map(|name| name.text.clone()),
        ..Node::new(graph, op.name.text.clone())
    }
}
