//! Draws values of attributes.

use bytes::Bytes;
use onnx_lint::graph::{AttrKind, AttrValue, Attribute, ElemType};
use onnx_lint::infer;
use onnx_lint::schema::{AttrDefault, AttrSpec, Schema, Values};

use crate::draft::Draft;
use crate::fill::{self, Fill};
use crate::table;

/// Properties of a node that the drawn values of its attributes depend on.
pub struct Around {
    /// Rank of input 0.
    pub rank: usize,
    /// Number of spatial dimensions.
    pub spatial: usize,
}

/// Draws attributes for a node: all required ones, and some of the others.
pub fn attributes(draft: &mut Draft, schema: &'static Schema, around: &Around) -> Vec<Attribute> {
    let mut drawn = Vec::new();
    for spec in schema.attrs {
        if !spec.required && !draft.random.once_in(2) {
            continue;
        }
        if let Some(value) = value(draft, schema, spec, around) {
            drawn.push(Attribute::new(spec.name, value));
        }
    }
    drawn
}

fn ints(spec: &AttrSpec, all: Vec<i64>) -> Option<AttrValue> {
    match spec.kind {
        AttrKind::Int => all.first().copied().map(AttrValue::Int),
        _ => Some(AttrValue::Ints(all)),
    }
}

/// Target element types of `Cast` and similar operators.
const TARGETS: [ElemType; 14] = [
    ElemType::Float,
    ElemType::Double,
    ElemType::Float16,
    ElemType::Bfloat16,
    ElemType::Int64,
    ElemType::Int32,
    ElemType::Int8,
    ElemType::Uint8,
    ElemType::Bool,
    ElemType::String,
    ElemType::Float8e4m3fn,
    ElemType::Float8e5m2,
    ElemType::Int4,
    ElemType::Uint4,
];

fn value(draft: &mut Draft, schema: &Schema, spec: &AttrSpec, around: &Around) -> Option<AttrValue> {
    let Some(how) = table::attribute(schema.name, spec.name) else { return by_schema(draft, spec) };
    let (kind, arguments) = how.split_once(' ').unwrap_or((how, ""));
    let numbers: Vec<i64> = arguments.split(' ').filter_map(|number| number.parse().ok()).collect();
    let range = || Some((*numbers.first()?, *numbers.get(1)?));
    let rank = around.rank as i64;
    let random = &mut draft.random;
    let axis = |random: &mut crate::random::Random| random.between(-rank, (rank - 1).max(-rank));
    match kind {
        "flag" => ints(spec, vec![random.between(0, 1)]),
        "int" => {
            let (low, high) = range()?;
            ints(spec, vec![random.between(low, high)])
        }
        "one" => {
            let words: Vec<&str> = arguments.split(' ').collect();
            let word = random.pick(&words)?;
            match spec.kind {
                AttrKind::Int | AttrKind::Ints => ints(spec, vec![word.parse().ok()?]),
                AttrKind::Float => Some(AttrValue::Float(word.parse().ok()?)),
                _ => Some(AttrValue::String(Bytes::copy_from_slice(word.as_bytes()))),
            }
        }
        "axis" if rank > 0 => ints(spec, vec![axis(random)]),
        "axes" if rank > 0 => {
            let mut axes: Vec<i64> = (0..rank).collect();
            random.shuffle(&mut axes);
            axes.truncate(1 + random.below(around.rank));
            axes.sort_unstable();
            let negative = random.once_in(3);
            ints(spec, axes.into_iter().map(|axis| if negative { axis - rank } else { axis }).collect())
        }
        "perm" => {
            let mut perm: Vec<i64> = (0..rank).collect();
            random.shuffle(&mut perm);
            ints(spec, perm)
        }
        "type" => ints(spec, vec![random.of_these(TARGETS).number().into()]),
        "spatial" => {
            let (low, high) = range()?;
            ints(spec, (0..around.spatial).map(|_| random.between(low, high)).collect())
        }
        "pads" => {
            let count = if schema.name == "Pad" { 2 * around.rank } else { 2 * around.spatial };
            ints(spec, (0..count).map(|_| random.of_these([0, 0, 1, 1, 2])).collect())
        }
        "floats" => {
            let count = numbers.first().map_or(0, |&count| count as usize);
            Some(AttrValue::Floats((0..count).map(|_| random.of_these([1.0, 2.0, 1.0, 0.5])).collect()))
        }
        "tensor" => {
            let elem = random.of_these(TARGETS);
            let fill = if random.once_in(2) { Fill::Extreme } else { Fill::Any };
            let array = fill::array(elem, &[1], &fill, random)?;
            Some(AttrValue::Tensor(draft.case.model.tensors.push(infer::tensor_of(&array))))
        }
        _ => None,
    }
}

fn by_schema(draft: &mut Draft, spec: &AttrSpec) -> Option<AttrValue> {
    let random = &mut draft.random;
    let least = match spec.values {
        Values::AtLeast(least) => least,
        _ => -1,
    };
    let default = spec.default.and_then(AttrDefault::to_value);
    if default.is_some() && random.once_in(3) {
        return default;
    }
    match (spec.kind, spec.values) {
        (AttrKind::String, Values::OneOf(all)) => {
            random.pick(all).map(|text| AttrValue::String(Bytes::from_static(text.as_bytes())))
        }
        (AttrKind::Int, _) => Some(AttrValue::Int(random.between(least, 2.max(least)))),
        (AttrKind::Float, _) => Some(AttrValue::Float(random.of_these([0.0, 0.5, 1.0, 2.0, -1.0, 0.1]))),
        _ => default,
    }
}
