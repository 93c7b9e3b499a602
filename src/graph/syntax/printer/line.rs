//! Prints a node as one line for display, with inlined constants and long parts shortened.
//!
//! With inlined constants, the line is not valid ONNX text: `"2" = Reshape (x, {2,12})`.

use crate::graph::syntax::number::write_float;
use crate::graph::syntax::span::Span;
use crate::graph::{AttrValue, Attribute, ElemType, Model, Node, NodeId, Tensor, TensorData, ValueId};

use super::elements::push_elements;
use super::{NodeSpans, push_name, push_quoted, types};

/// Maximum number of elements of an inlined constant.
const MAX_INLINE: usize = 8;
/// Maximum number of items of a list that is shown in full.
const MAX_LIST: usize = 16;
/// Number of items shown of a shortened list.
const SHOWN: usize = 3;
/// Maximum number of characters of a string; longer strings are cut.
const MAX_STRING: usize = 60;

/// A node as one line, with the spans of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub spans: NodeSpans,
}

/// Formats `node` without its name.
pub fn line(model: &Model, node: NodeId) -> Line {
    let node = &model.nodes[node];
    let mut writer = Writer { model, out: String::new() };
    let outputs = writer.operands(&node.outputs, Writer::output);
    writer.out.push_str(" = ");
    let op = writer.spanned(|writer| writer.out.push_str(&op(node)));
    let attrs = writer.attributes(&node.attrs);
    writer.out.push_str(" (");
    let inputs = writer.operands(&node.inputs, Writer::input);
    writer.out.push(')');
    let whole = Span::new(0, writer.out.len());
    Line { text: writer.out, spans: NodeSpans { whole, op, outputs, inputs, attrs } }
}

fn op(node: &Node) -> String {
    match node.overload.as_deref() {
        None | Some("") => node.op_name(),
        Some(overload) => format!("{}:{overload}", node.op_name()),
    }
}

/// Returns the first attribute of the `Constant` node that produces `value`.
fn constant(model: &Model, value: ValueId) -> Option<&AttrValue> {
    let (node, _) = model.producer(value)?;
    let node = &model.nodes[node];
    if !node.is("Constant") {
        return None;
    }
    node.attrs.first().map(|attr| &attr.value)
}

struct Writer<'m> {
    model: &'m Model,
    out: String,
}

impl Writer<'_> {
    fn spanned(&mut self, write: impl FnOnce(&mut Self)) -> Span {
        let start = self.out.len();
        write(self);
        Span::new(start, self.out.len())
    }

    fn operands(&mut self, values: &[Option<ValueId>], write: fn(&mut Self, ValueId)) -> Vec<Span> {
        let mut spans = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            spans.push(self.spanned(|writer| match value {
                Some(value) => write(writer, *value),
                None => writer.out.push_str("\"\""),
            }));
        }
        spans
    }

    fn output(&mut self, value: ValueId) {
        push_name(&mut self.out, &self.model.values[value].name);
    }

    fn input(&mut self, value: ValueId) {
        let model = self.model;
        let tensor = model.constant(value).or_else(|| match constant(model, value)? {
            AttrValue::Tensor(tensor) => Some(&model.tensors[*tensor]),
            _ => None,
        });
        let inline = match tensor {
            Some(tensor) => inline_tensor(tensor),
            None => constant(model, value).and_then(inline_attribute),
        };
        match inline {
            Some(text) => self.out.push_str(&text),
            None => self.output(value),
        }
    }

    fn attributes(&mut self, attrs: &[Attribute]) -> Vec<Span> {
        let mut spans = Vec::with_capacity(attrs.len());
        for (index, attr) in attrs.iter().enumerate() {
            self.out.push_str(if index == 0 { " <" } else { ", " });
            spans.push(self.spanned(|writer| {
                writer.out.push_str(&attr.name);
                writer.out.push_str(" = ");
                writer.value(&attr.value);
            }));
        }
        if !attrs.is_empty() {
            self.out.push('>');
        }
        spans
    }

    fn value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Float(float) => self.out.push_str(&write_float(*float)),
            AttrValue::Int(int) => self.out.push_str(&int.to_string()),
            AttrValue::String(text) => self.string(text),
            AttrValue::Tensor(tensor) => self.tensor(&self.model.tensors[*tensor]),
            AttrValue::Floats(items) => {
                self.list(items, |writer, &item| writer.out.push_str(&write_float(item)));
            }
            AttrValue::Ints(items) => self.list(items, |writer, item| writer.out.push_str(&item.to_string())),
            AttrValue::Strings(items) => self.list(items, |writer, item| writer.string(item)),
            AttrValue::Tensors(items) => {
                self.list(items, |writer, &item| writer.tensor(&writer.model.tensors[item]));
            }
            AttrValue::Graphs(items) => self.list(items, |writer, &item| writer.graph(item)),
            AttrValue::Graph(graph) => self.graph(*graph),
            AttrValue::Type(ty) => types::push_type(&mut self.out, ty),
            AttrValue::Types(items) => self.list(items, |writer, ty| types::push_type(&mut writer.out, ty)),
            AttrValue::Ref { name, .. } => {
                self.out.push('@');
                push_name(&mut self.out, name);
            }
            AttrValue::SparseTensor(_) | AttrValue::SparseTensors(_) => self.out.push_str("<sparse_tensor>"),
            AttrValue::Undefined(_) => self.out.push('?'),
        }
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        let shown = if items.len() > MAX_LIST { SHOWN } else { items.len() };
        self.out.push('[');
        for (index, item) in items[..shown].iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            write(self, item);
        }
        if shown < items.len() {
            self.out.push_str(&format!(", …({})", items.len()));
        }
        self.out.push(']');
    }

    fn string(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        match text.char_indices().nth(MAX_STRING) {
            None => push_quoted(&mut self.out, &text),
            Some((cut, _)) => push_quoted(&mut self.out, &format!("{}…", &text[..cut])),
        }
    }

    fn graph(&mut self, graph: crate::graph::GraphId) {
        let graph = &self.model.graphs[graph];
        self.out.push_str(&format!("<graph of {} nodes>", graph.nodes.len()));
    }

    /// Writes `int64[2] {2,12}`, `int64[4096] {0,1,2,…(4096)}` or `<float[768,768]>`.
    fn tensor(&mut self, tensor: &Tensor) {
        let mut ty = String::new();
        types::push_dims(&mut ty, tensor.data_type, &tensor.dims);
        let is_list = tensor.dims.len() <= 1 && !tensor.elem().is_some_and(ElemType::is_float);
        let len = tensor.len().unwrap_or(usize::MAX);
        match elements(tensor, if len > MAX_INLINE { SHOWN } else { len }) {
            Some(elements) if len <= MAX_INLINE => self.out.push_str(&format!("{ty} {{{elements}}}")),
            Some(elements) if is_list => self.out.push_str(&format!("{ty} {{{elements},…({len})}}")),
            _ => self.out.push_str(&format!("<{ty}>")),
        }
    }
}

/// Formats `{2,12}`, or `2` for a scalar; `None` if a tensor is long, unreadable, or of rank 2 or more.
fn inline_tensor(tensor: &Tensor) -> Option<String> {
    let len = tensor.len().filter(|&len| len <= MAX_INLINE && tensor.dims.len() <= 1)?;
    let elements = elements(tensor, len)?;
    Some(if tensor.dims.is_empty() { elements } else { format!("{{{elements}}}") })
}

fn inline_attribute(value: &AttrValue) -> Option<String> {
    Some(match value {
        AttrValue::Int(int) => int.to_string(),
        AttrValue::Float(float) => write_float(*float),
        AttrValue::Ints(ints) if ints.len() <= MAX_INLINE => {
            format!("{{{}}}", ints.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        }
        AttrValue::Floats(floats) if floats.len() <= MAX_INLINE => {
            format!("{{{}}}", floats.iter().map(|&float| write_float(float)).collect::<Vec<_>>().join(","))
        }
        _ => return None,
    })
}

/// Formats the first `limit` elements, those of `float16` and `bfloat16` as numbers.
/// Returns `None` for external or unreadable data, and for `float16` or `bfloat16` tensors of more than
/// [`MAX_INLINE`] elements.
fn elements(tensor: &Tensor, limit: usize) -> Option<String> {
    if matches!(tensor.data, TensorData::External(_)) {
        return None;
    }
    if matches!(tensor.elem(), Some(ElemType::Float16 | ElemType::Bfloat16)) {
        let floats = tensor.small_floats(MAX_INLINE)?;
        let numbers: Vec<_> = floats.iter().take(limit).map(|&float| write_float(float)).collect();
        return Some(numbers.join(","));
    }
    let mut out = String::new();
    push_elements(&mut out, tensor, ",", limit).then_some(out)
}
