//! Tensors with data that do not match their element type and dims.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::RuleId;
use crate::diag::counted;
use crate::diag::rule_ids::BAD_TENSOR_DATA;
use crate::diag::{Finding, Sink};
use crate::graph::syntax::dims;
use crate::graph::{
    AttrValue, DeferredField, ElemType, Initial, NodeId, SparseTensor, Tensor, TensorData, TensorId, ValueId,
};

/// Detector of SPC022.
pub const DETECTOR: Detector = Detector { rules: &[BAD_TENSOR_DATA], run };

/// Owner of a tensor.
#[derive(Clone, Copy)]
pub enum Holder<'a> {
    /// Value that the tensor initializes.
    Initializer(ValueId),
    /// Node and attribute name.
    Attribute(NodeId, &'a str),
}

impl Holder<'_> {
    /// Creates a finding; `why` follows the name of the tensor in the message.
    pub fn finding(self, cx: &LintContext, rule: RuleId, why: &str) -> Finding {
        match self {
            Holder::Initializer(value) => {
                cx.at_value(rule, value, format!("the tensor `{}` {why}", cx.name(value)))
            }
            Holder::Attribute(node, attr) => {
                let message = format!("the tensor `{attr}` of `{}` {why}", cx.node_name(node));
                cx.at_node(rule, node, Part::Attr(attr), message)
            }
        }
    }
}

/// Returns every dense tensor of the model with its owner.
pub fn dense<'a>(cx: &LintContext<'a>) -> impl Iterator<Item = (Holder<'a>, &'a Tensor)> {
    let model = cx.model;
    let of_value = |(id, value): (ValueId, &'a crate::graph::Value)| match &value.initial {
        Some(Initial::Dense(tensor)) => Some((Holder::Initializer(id), *tensor)),
        _ => None,
    };
    let in_attrs = cx.nodes().flat_map(|(id, node)| {
        node.attrs.iter().flat_map(move |attr| {
            tensors_of(&attr.value).iter().map(move |&tensor| (Holder::Attribute(id, &attr.name), tensor))
        })
    });
    let initial = model.values.iter().filter_map(of_value);
    initial.chain(in_attrs).map(|(holder, tensor)| (holder, &model.tensors[tensor]))
}

fn tensors_of(value: &AttrValue) -> &[TensorId] {
    match value {
        AttrValue::Tensor(tensor) => std::slice::from_ref(tensor),
        AttrValue::Tensors(tensors) => tensors,
        _ => &[],
    }
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (holder, tensor) in dense(cx) {
        sink.extend(fault(tensor).map(|why| holder.finding(cx, BAD_TENSOR_DATA, &why)));
    }
    for (id, value) in cx.model.values.iter() {
        if let Some(Initial::Sparse(sparse)) = &value.initial {
            let why = sparse_fault(sparse);
            sink.extend(why.map(|why| Holder::Initializer(id).finding(cx, BAD_TENSOR_DATA, &why)));
        }
    }
}

/// Returns the fault of a tensor, as text that follows its name; does not read the elements.
fn fault(tensor: &Tensor) -> Option<String> {
    let Some(elem) = tensor.elem() else {
        return Some(match tensor.data_type {
            None | Some(0) => "has no element type".to_owned(),
            Some(number) => format!("has element type number {number}, which ONNX does not define"),
        });
    };
    if let Some(dim) = tensor.dims.iter().find(|dim| **dim < 0) {
        return Some(format!("has a negative dimension: {dim}"));
    }
    let Some(len) = tensor.len() else {
        return Some(format!("has dims {}, whose element count overflows 64 bits", dims(&tensor.dims)));
    };
    let (held, wanted) = counts(tensor, elem, len)?;
    let (field, one, many) = field(&tensor.data);
    if wanted.is_empty() {
        return Some(format!("has type {elem}, but `{field}` cannot store this type"));
    }
    if wanted.contains(&held) {
        return None;
    }
    let wanted = wanted[0];
    let unit = if wanted == 1 { one } else { many };
    Some(format!("is {elem}{} and needs {wanted} {unit}, but `{field}` has {held}", dims(&tensor.dims)))
}

/// Returns the number of entries in the data field (bytes of `raw_data`), and the valid entry counts.
///
/// No entry count is valid if the data field cannot store the element type. Returns `None` for external data.
fn counts(tensor: &Tensor, elem: ElemType, len: usize) -> Option<(usize, Vec<usize>)> {
    let is = |fits: bool, wanted: Vec<usize>| if fits { wanted } else { Vec::new() };
    let bits = elem.bits().unwrap_or(0);
    let raw_counts = |held: usize| (held, is(bits > 0, tensor.byte_len().into_iter().collect()));
    // A complex number is a pair of entries.
    let float_counts = |held: usize| match elem {
        ElemType::Complex64 => (held, vec![len.saturating_mul(2)]),
        _ => (held, is(elem == ElemType::Float, vec![len])),
    };
    let double_counts = |held: usize| match elem {
        ElemType::Complex128 => (held, vec![len.saturating_mul(2)]),
        _ => (held, is(elem == ElemType::Double, vec![len])),
    };
    Some(match &tensor.data {
        TensorData::External(_) => return None,
        TensorData::Absent => (0, vec![len]),
        TensorData::Raw(raw) => raw_counts(raw.len()),
        TensorData::Floats(items) => float_counts(items.len()),
        TensorData::Doubles(items) => double_counts(items.len()),
        TensorData::Deferred(deferred) => match deferred.field() {
            DeferredField::Raw => raw_counts(deferred.byte_len()),
            DeferredField::Floats => float_counts(deferred.byte_len() / 4),
            DeferredField::Doubles => double_counts(deferred.byte_len() / 8),
        },
        TensorData::Int64s(ints) => (ints.len(), is(elem == ElemType::Int64, vec![len])),
        TensorData::Uint64s(ints) => {
            (ints.len(), is(matches!(elem, ElemType::Uint32 | ElemType::Uint64), vec![len]))
        }
        TensorData::Strings(strings) => (strings.len(), is(elem == ElemType::String, vec![len])),
        TensorData::Int32s(ints) => {
            let fits = bits < 32 && bits > 0 || elem == ElemType::Int32;
            // An entry stores one element, or one byte of packed elements of types narrower than 8 bits.
            let packed = if bits < 8 { len.saturating_mul(bits).div_ceil(8) } else { len };
            (ints.len(), is(fits, vec![packed]))
        }
    })
}

/// Returns the name of the data field, and the unit of its entries (singular and plural).
fn field(data: &TensorData) -> (&'static str, &'static str, &'static str) {
    match data {
        TensorData::Absent => ("raw_data", "element", "elements"),
        TensorData::Raw(_) => ("raw_data", "byte", "bytes"),
        TensorData::Floats(_) => ("float_data", "entry", "entries"),
        TensorData::Int32s(_) => ("int32_data", "entry", "entries"),
        TensorData::Int64s(_) => ("int64_data", "entry", "entries"),
        TensorData::Doubles(_) => ("double_data", "entry", "entries"),
        TensorData::Uint64s(_) => ("uint64_data", "entry", "entries"),
        TensorData::Strings(_) => ("string_data", "entry", "entries"),
        TensorData::External(_) => ("external_data", "byte", "bytes"),
        TensorData::Deferred(deferred) => match deferred.field() {
            DeferredField::Raw => ("raw_data", "byte", "bytes"),
            DeferredField::Floats => ("float_data", "entry", "entries"),
            DeferredField::Doubles => ("double_data", "entry", "entries"),
        },
    }
}

/// Returns the fault of a sparse tensor (`SparseTensorProto`).
///
/// A valid sparse tensor has n values, each with a linear or per-axis index.
fn sparse_fault(sparse: &SparseTensor) -> Option<String> {
    let (Some(values), Some(indices)) = (&sparse.values, &sparse.indices) else {
        return Some("is sparse, but has no values or no indices".to_owned());
    };
    if let Some(why) = fault(values).or_else(|| fault(indices)) {
        return Some(why);
    }
    let count = values.len()? as i64;
    let rank = sparse.dims.len() as i64;
    if indices.elem() != Some(ElemType::Int64) {
        return Some("is sparse, but its indices are not int64".to_owned());
    }
    let is_right = indices.dims == [count] || indices.dims == [count, rank];
    let values = counted(count, "value");
    let why = format!("is sparse with {values}, but indices of shape {}", dims(&indices.dims));
    (!is_right).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(elem: ElemType, dims: &[i64], data: TensorData, expected: Option<&str>) {
        assert_eq!(fault(&Tensor::new(elem, dims.to_vec(), data)).as_deref(), expected);
    }

    #[test]
    fn data_of_wrong_length_or_type_is_a_fault() {
        let raw = |len: usize| TensorData::Raw(vec![0; len].into());
        check(ElemType::Float, &[2, 3], raw(24), None);
        check(
            ElemType::Float,
            &[2, 3],
            raw(20),
            Some("is float[2,3] and needs 24 bytes, but `raw_data` has 20"),
        );
        check(ElemType::Int4, &[3], raw(2), None);
        check(ElemType::Int4, &[3], TensorData::Int32s(vec![0; 2]), None);
        check(
            ElemType::Int4,
            &[3],
            TensorData::Int32s(vec![0; 3]),
            Some("is int4[3] and needs 2 entries, but `int32_data` has 3"),
        );
        check(ElemType::Float16, &[2], TensorData::Int32s(vec![0; 2]), None);
        check(ElemType::Complex64, &[2], TensorData::Floats(vec![0.0; 4]), None);
        check(ElemType::Float, &[0], TensorData::Absent, None);
        check(
            ElemType::Float,
            &[1],
            TensorData::Absent,
            Some("is float[1] and needs 1 element, but `raw_data` has 0"),
        );
        check(ElemType::String, &[1], raw(1), Some("has type string, but `raw_data` cannot store this type"));
        check(
            ElemType::Int64,
            &[1],
            TensorData::Int32s(vec![1]),
            Some("has type int64, but `int32_data` cannot store this type"),
        );
        check(ElemType::Float, &[-1], raw(4), Some("has a negative dimension: -1"));
    }
}
