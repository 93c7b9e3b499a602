//! Indexing: results of reads, and indices that exporters handle incorrectly.

use tree_sitter::Node;

use super::calls::Call;
use super::interpreter::Interpreter;
use super::report;
use super::syntax::{children, field, fields, one_line, text};
use super::value::{Dtype, Layer, Origin, Tensor, Value, View, integer};

/// An index in `x[a, b, c]`.
#[derive(Clone, Debug)]
enum Index<'t> {
    /// `1:3`, `:`, `...`, `None`: axes stay in order.
    Slice,
    /// An integer.
    Number(Value),
    /// An index tensor, or a list or array that PyTorch converts to one.
    Tensor {
        node: Node<'t>,
        rank: Option<usize>,
        negative: bool,
    },
    /// A boolean tensor.
    Mask {
        node: Node<'t>,
    },
    Unknown,
}

impl<'t> Interpreter<'t> {
    /// Evaluates `x[…]`.
    pub fn subscript(&mut self, node: Node<'t>) -> Value {
        let Some(object) = field(node, "value") else { return Value::Unknown };
        let value = self.evaluate(object);
        let keys = keys(node);
        if let Value::Mapping(each) = value {
            return *each;
        }
        if keys.iter().any(|key| key.kind() == "string") {
            return Value::Unknown;
        }
        let indices: Vec<Index> = keys.iter().map(|key| self.index(*key)).collect();
        self.ask_choice(&value, &keys);
        match (&value, indices.as_slice()) {
            (Value::Tensor(tensor), indices) => Value::Tensor(self.taken(tensor, indices, node)),
            (Value::Shape(shape), [Index::Slice]) => Value::Shape(*shape),
            (Value::Shape(shape), [Index::Number(Value::Number(Some(at)))]) => match integer(*at) {
                Some(at) => self.size_of(*shape, at),
                None => Value::Size(self.identity()),
            },
            (Value::Shape(_), _) => Value::Size(self.identity()),
            (Value::Items(items), [Index::Number(Value::Number(Some(at)))]) => item(items, *at),
            (Value::Items(_) | Value::Each(_), [Index::Slice]) => Value::Each(Box::new(value.element())),
            (Value::Items(_) | Value::Each(_), _) => value.element(),
            (Value::Layer(Layer::List(each)), [Index::Slice]) => Value::Layer(Layer::List(each.clone())),
            (Value::Layer(Layer::List(each)), _) => (**each).clone(),
            (Value::Array(array), _) => Value::Array(array.clone()),
            _ => Value::Unknown,
        }
    }

    /// Reports `self.heads[which]`, where a tensor selects an item of a Python list.
    fn ask_choice(&mut self, of: &Value, keys: &[Node<'t>]) {
        let is_list = matches!(of, Value::Items(_) | Value::Each(_) | Value::Layer(Layer::List(_)));
        let [key] = keys else { return };
        if !is_list || matches!(key.kind(), "slice" | "ellipsis") {
            return;
        }
        let index = self.look_at(*key);
        let Some(tensor) = index.tensor().filter(|tensor| tensor.origin > Origin::Constant) else { return };
        let words = report::item(self.here(*key), *key, text(*key, self.source), tensor.origin, self.source);
        self.say(*key, if tensor.sure { words } else { words.remark() });
    }

    fn index(&mut self, key: Node<'t>) -> Index<'t> {
        if matches!(key.kind(), "slice" | "ellipsis") {
            children(key).into_iter().for_each(|bound| drop(self.evaluate(bound)));
            return Index::Slice;
        }
        let made = field(key, "function").map_or("", |function| text(function, self.source));
        if key.kind() == "call" && made == "slice" {
            return Index::Slice;
        }
        let value = self.evaluate(key);
        let (rank, elements) = value.literal();
        let negative = elements.is_some_and(|elements| elements.iter().any(|element| *element < 0));
        match value {
            Value::None => Index::Slice,
            Value::Tensor(tensor) if tensor.dtype == Some(Dtype::Bool) => Index::Mask { node: key },
            Value::Tensor(tensor) if tensor.sure => Index::Tensor { node: key, rank: tensor.rank, negative },
            Value::Array(_) => Index::Tensor { node: key, rank, negative },
            Value::Items(_) if key.kind() == "list" || rank.is_some_and(|rank| rank > 0) => {
                Index::Tensor { node: key, rank, negative }
            }
            Value::Number(_) | Value::Size(_) => Index::Number(value),
            _ => Index::Unknown,
        }
    }

    fn taken(&mut self, tensor: &Tensor, indices: &[Index<'t>], node: Node<'t>) -> Tensor {
        let gathers = indices.iter().filter(|index| matches!(index, Index::Tensor { .. })).count();
        let masked = indices.iter().find_map(|index| match index {
            Index::Mask { node } => Some(*node),
            _ => None,
        });
        if let Some(mask) = masked {
            self.say(mask, report::boolean_mask(&one_line(node, self.source)));
        }
        for index in indices {
            if let Index::Tensor { node: at, negative: true, .. } = index {
                let words = report::negative_index(&one_line(*at, self.source), gathers > 1);
                self.say(*at, words);
                break;
            }
        }
        if gathers > 0 || masked.is_some() {
            let sure = tensor.sure || gathers > 0;
            return Tensor { sure, dtype: tensor.dtype, rank: None, ..self.result(&[tensor]) };
        }
        let known = indices.iter().all(|index| !matches!(index, Index::Unknown));
        let mut row = self.row(tensor);
        row.sure = tensor.sure || indices.len() > 1;
        row.view = if known { tensor.view.max(View::Slice) } else { tensor.view.max(View::Perhaps) };
        let taken = indices.iter().filter(|index| matches!(index, Index::Number(_))).count();
        row.rank = tensor.rank.filter(|_| known).and_then(|rank| rank.checked_sub(taken));
        row
    }

    /// Evaluates `x[…] = value`.
    pub fn assign_items(&mut self, target: Node<'t>, value: &Value) {
        let Some(object) = field(target, "value") else { return };
        let base = self.evaluate(object);
        let keys = keys(target);
        let indices: Vec<Index> = keys.iter().map(|key| self.index(*key)).collect();
        if matches!(base, Value::Dict | Value::Items(_) | Value::Each(_)) {
            return;
        }
        self.ask_write(&indices, value, target);
        if let Value::Tensor(tensor) = &base {
            // The write happens at the end of the statement, after the reads on its right side.
            let whole =
                target.parent().filter(|parent| parent.kind().ends_with("assignment")).unwrap_or(target);
            self.write(tensor, "__setitem__", Some(object), whole);
        }
    }

    /// Checks a call of `index_put_`, such as `x.index_put_((i, j), value)`.
    pub fn ask_index_put(&mut self, call: &Call<'t>) {
        // `torch.index_put_`, unlike the method, has the tensor as its first argument.
        let places = usize::from(matches!(call.values.first(), Some(Value::Tensor(_))));
        let (Some(list), Some(value)) = (call.arguments.positional.get(places), call.values.get(places + 1))
        else {
            return;
        };
        let indices: Vec<Index> = children(*list).into_iter().map(|key| self.index(key)).collect();
        self.ask_write(&indices, &value.clone(), call.node);
    }

    /// Reports an assignment through index tensors that may be exported incorrectly.
    ///
    /// Reports negative indices, and assignments that the tracing exporter may not support.
    fn ask_write(&mut self, indices: &[Index<'t>], value: &Value, node: Node<'t>) {
        let gathers: Vec<(usize, Node<'t>, Option<usize>, bool)> = indices
            .iter()
            .enumerate()
            .filter_map(|(at, index)| match index {
                Index::Tensor { node, rank, negative } => Some((at, *node, *rank, *negative)),
                _ => None,
            })
            .collect();
        let (Some(first), Some(last)) = (gathers.first(), gathers.last()) else { return };
        let written = one_line(node, self.source);
        if let Some((_, at, ..)) = gathers.iter().find(|(.., negative)| *negative) {
            self.say(node, report::negative_write(&one_line(*at, self.source)));
        }
        if indices[first.0..=last.0].iter().any(|index| matches!(index, Index::Slice)) {
            self.say(node, report::index_put_apart(&written));
            return;
        }
        let rank = gathers.iter().filter_map(|(_, _, rank, _)| *rank).max().unwrap_or(1);
        if rank > 1 && gathers.len() > 1 {
            self.say(node, report::index_put_rank(&written, rank));
            return;
        }
        let slices = indices.iter().filter(|index| matches!(index, Index::Slice)).count();
        match value {
            Value::Tensor(Tensor { rank: Some(value), .. }) if *value > 0 && *value < rank + slices => {
                self.say(node, report::index_put_broadcast(&written, Some(*value)));
            }
            Value::Tensor(Tensor { rank: None, .. }) | Value::Unknown if rank > 1 => {
                self.say(node, report::index_put_broadcast(&written, None));
            }
            _ => {}
        }
    }
}

/// Returns the indices in the brackets.
fn keys(subscript: Node) -> Vec<Node> {
    match fields(subscript, "subscript").as_slice() {
        [tuple] if tuple.kind() == "tuple" => children(*tuple),
        keys => keys.to_vec(),
    }
}

fn item(items: &[Value], at: f64) -> Value {
    let Some(at) = integer(at) else { return Value::Unknown };
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let at = if at < 0 { at + length } else { at };
    usize::try_from(at).ok().and_then(|at| items.get(at)).cloned().unwrap_or_default()
}
