//! Conversions between attributes, constants and the data of rule expressions.

use std::sync::Arc;

use bytes::Bytes;

use super::datum::Datum;
use crate::graph::{AttrKind, AttrValue, ElemType, Tensor, TensorData, TensorId};
use crate::infer::eval::Array;
use crate::schema::AttrDefault;
use crate::schema::aten::Literal;

impl Datum {
    /// Converts the value of an attribute; `tensor` resolves tensor ids.
    pub fn from_attr<'a>(value: &AttrValue, tensor: impl Fn(TensorId) -> &'a Tensor) -> Datum {
        match value {
            AttrValue::Int(int) => Datum::Int(*int),
            AttrValue::Float(float) => Datum::Float(f64::from(*float)),
            AttrValue::Ints(ints) => Datum::List(ints.iter().map(|&int| Datum::Int(int)).collect()),
            AttrValue::Floats(floats) => {
                Datum::List(floats.iter().map(|&float| Datum::Float(f64::from(float))).collect())
            }
            AttrValue::Tensor(id) => Datum::Tensor(Arc::new(tensor(*id).clone())),
            AttrValue::String(bytes) => text(bytes).unwrap_or_else(|| Datum::Other(value.clone())),
            AttrValue::Strings(strings) => {
                let texts: Option<Vec<Datum>> = strings.iter().map(|string| text(string)).collect();
                texts.map_or_else(|| Datum::Other(value.clone()), Datum::List)
            }
            other => Datum::Other(other.clone()),
        }
    }

    /// Converts the default of an attribute; returns `None` if the default depends on the rank of an input.
    pub fn from_default(default: AttrDefault) -> Option<Datum> {
        Some(match default {
            AttrDefault::Int(int) => Datum::Int(int),
            AttrDefault::Float(float) => Datum::Float(f64::from(float)),
            AttrDefault::String(text) => Datum::Str(Arc::from(text)),
            AttrDefault::Ints(ints) => Datum::List(ints.iter().map(|&int| Datum::Int(int)).collect()),
            AttrDefault::Strings(texts) => {
                Datum::List(texts.iter().map(|&text| Datum::Str(Arc::from(text))).collect())
            }
            AttrDefault::Every(_) => return None,
        })
    }

    /// Converts the default argument of a PyTorch operator; returns `None` for the Python value `None`.
    pub fn from_literal(literal: &Literal) -> Option<Datum> {
        Some(match literal {
            Literal::None => return None,
            Literal::Int(int) => Datum::Int(*int),
            Literal::Float(float) => Datum::Float(*float),
            Literal::Bool(truth) => Datum::Int(i64::from(*truth)),
            Literal::Str(text) => Datum::Str(Arc::from(*text)),
            Literal::Ints(ints) => Datum::List(ints.iter().map(|&int| Datum::Int(int)).collect()),
        })
    }

    /// Converts the elements of a constant (numbers, bools or strings), in row-major order.
    /// Returns `None` if an element has no datum, such as a complex number.
    pub fn from_array(array: &Array) -> Option<Datum> {
        let elem = array.elem();
        let items: Vec<Datum> = match elem {
            ElemType::Bool => array.as_bools().ok()?.iter().map(|&truth| Datum::Bool(truth)).collect(),
            ElemType::String => {
                array.as_strings().ok()?.iter().map(|string| text(string)).collect::<Option<_>>()?
            }
            _ if elem.is_integer() => array.as_i64s().ok()?.into_iter().map(Datum::Int).collect(),
            _ if elem.is_float() => array.f64s().ok()?.into_iter().map(Datum::Float).collect(),
            _ => return None,
        };
        Some(Datum::List(items))
    }

    /// Converts a datum to an attribute of `kind`; returns `None` if the kind cannot represent it.
    /// Tensors are not converted here, because their owner allocates the ids.
    pub fn to_attr(&self, kind: AttrKind) -> Option<AttrValue> {
        Some(match (kind, self) {
            (AttrKind::Int, Datum::Elem(elem)) => AttrValue::Int(i64::from(elem.number())),
            (AttrKind::Int, Datum::Bool(truth)) => AttrValue::Int(i64::from(*truth)),
            (AttrKind::Int, datum) => AttrValue::Int(datum.as_int()?),
            (AttrKind::Float, datum) => AttrValue::Float(datum.as_number()? as f32),
            (AttrKind::String, Datum::Str(text)) => {
                AttrValue::String(Bytes::copy_from_slice(text.as_bytes()))
            }
            (AttrKind::Ints, Datum::List(items)) => {
                AttrValue::Ints(items.iter().map(Datum::as_int).collect::<Option<_>>()?)
            }
            (AttrKind::Floats, Datum::List(items)) => AttrValue::Floats(
                items.iter().map(|item| Some(item.as_number()? as f32)).collect::<Option<_>>()?,
            ),
            (AttrKind::Strings, Datum::List(items)) => {
                let string = |item: &Datum| match item {
                    Datum::Str(text) => Some(Bytes::copy_from_slice(text.as_bytes())),
                    _ => None,
                };
                AttrValue::Strings(items.iter().map(string).collect::<Option<_>>()?)
            }
            (kind, Datum::Other(value)) if value.kind() == Some(kind) => value.clone(),
            _ => return None,
        })
    }

    /// Returns the kind of attribute that holds this datum, for operators without a schema.
    pub fn attr_kind(&self) -> Option<AttrKind> {
        Some(match self {
            Datum::Int(_) | Datum::Bool(_) | Datum::Elem(_) | Datum::Dim(_) => AttrKind::Int,
            Datum::Float(_) => AttrKind::Float,
            Datum::Str(_) => AttrKind::String,
            Datum::Tensor(_) => AttrKind::Tensor,
            Datum::List(items) => match items.iter().map(Datum::attr_kind).collect::<Option<Vec<_>>>()? {
                kinds if kinds.contains(&AttrKind::Float) => AttrKind::Floats,
                kinds if kinds.contains(&AttrKind::String) => AttrKind::Strings,
                _ => AttrKind::Ints,
            },
            Datum::Other(value) => value.kind()?,
            Datum::Absent => return None,
        })
    }

    /// Returns the tensor held by a `Constant` whose attribute `name` is this datum.
    pub fn to_constant(&self, name: &str) -> Option<Tensor> {
        match (name, self) {
            ("value", Datum::Tensor(tensor)) => Some(Tensor::clone(tensor)),
            ("value_int", datum) => Some(Tensor::int64s(vec![], &[datum.as_int()?])),
            ("value_ints", Datum::List(items)) => {
                let ints: Vec<i64> = items.iter().map(Datum::as_int).collect::<Option<_>>()?;
                Some(Tensor::int64s(vec![ints.len() as i64], &ints))
            }
            ("value_float", datum) => Some(floats(vec![], &[datum.as_number()? as f32])),
            ("value_floats", Datum::List(items)) => {
                let values: Vec<f32> =
                    items.iter().map(|item| Some(item.as_number()? as f32)).collect::<Option<_>>()?;
                Some(floats(vec![values.len() as i64], &values))
            }
            ("value_string", Datum::Str(text)) => {
                let data = TensorData::Strings(vec![Bytes::copy_from_slice(text.as_bytes())]);
                Some(Tensor::new(ElemType::String, vec![], data))
            }
            _ => None,
        }
    }

    /// Returns the value of an integer or of a constant dimension.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Datum::Int(int) => Some(*int),
            Datum::Dim(dim) => dim.as_const(),
            _ => None,
        }
    }

    /// Returns the value of a float, an integer or a constant dimension.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Datum::Float(float) => Some(*float),
            other => other.as_int().map(|int| int as f64),
        }
    }
}

fn text(bytes: &[u8]) -> Option<Datum> {
    std::str::from_utf8(bytes).ok().map(|text| Datum::Str(Arc::from(text)))
}

fn floats(dims: Vec<i64>, values: &[f32]) -> Tensor {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tensor::from_raw(ElemType::Float, dims, raw)
}
