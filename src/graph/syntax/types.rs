//! Types and tensors in ONNX text: `float[N,3]`, `seq(int64)`, `int64[2] {1,2}`.

use std::str::FromStr;
use std::sync::Arc;

use crate::graph::{
    DeclaredDim, DeclaredShape, Dimension, ElemType, Metadata, Tensor, TensorData, Type, TypeKind,
};

use super::cursor::{Cursor, Name, Parsed, Reported};
use super::lexer::TokenKind;
use super::number;
use super::suggest::with_suggestion;

/// Keywords that begin a type, besides the element types.
const TYPE_WORDS: [&str; 5] = ["seq", "map", "optional", "sparse_tensor", "opaque"];

/// Returns true if a type comes next.
pub fn at_type(cursor: &Cursor) -> bool {
    let word = cursor.text_of(cursor.peek());
    cursor.at_ident() && (ElemType::from_str(word).is_ok() || TYPE_WORDS.contains(&word))
}

/// Parses a type: `float` is a scalar, `float[]` has any rank.
pub fn ty(cursor: &mut Cursor) -> Parsed<Type> {
    let word = cursor.ident("a type")?;
    if let Ok(elem) = ElemType::from_str(&word.text) {
        let shape = shape(cursor)?;
        return Ok(TypeKind::Tensor { elem: Some(elem.number()), shape }.into());
    }
    if !TYPE_WORDS.contains(&&*word.text) {
        return Err(no_type(cursor, &word));
    }
    cursor.expect("(")?;
    let kind = match &*word.text {
        "seq" => TypeKind::Sequence(Some(Box::new(cursor.nested(ty)?))),
        "optional" => TypeKind::Optional(Some(Box::new(cursor.nested(ty)?))),
        "map" => {
            let key = elem(cursor)?;
            cursor.expect(",")?;
            let value = Some(Box::new(cursor.nested(ty)?));
            TypeKind::Map { key: Some(key.number()), value }
        }
        "sparse_tensor" => {
            let elem = elem(cursor)?;
            TypeKind::SparseTensor { elem: Some(elem.number()), shape: shape(cursor)? }
        }
        _ => opaque(cursor)?,
    };
    cursor.expect(")")?;
    Ok(kind.into())
}

/// Reports a word that is not a type.
pub fn no_type(cursor: &mut Cursor, word: &Name) -> Reported {
    let known = ElemType::ALL.iter().map(|elem| elem.name()).chain(TYPE_WORDS);
    let message = with_suggestion(format!("`{}` is not a type", word.text), &word.text, known);
    cursor.fault(word.span, message)
}

fn elem(cursor: &mut Cursor) -> Parsed<ElemType> {
    let word = cursor.ident("an element type")?;
    let unknown = |()| cursor.fault(word.span, format!("`{}` is not an element type", word.text));
    ElemType::from_str(&word.text).map_err(unknown)
}

/// Parses the inside of `opaque()`, `opaque(name)` or `opaque(domain, name)`.
/// The domain and the name may contain dots.
fn opaque(cursor: &mut Cursor) -> Parsed<TypeKind> {
    if cursor.at(")") {
        return Ok(TypeKind::Opaque { domain: None, name: None });
    }
    let first = dotted(cursor)?;
    if cursor.eat(",") {
        return Ok(TypeKind::Opaque { domain: Some(first), name: Some(dotted(cursor)?) });
    }
    Ok(TypeKind::Opaque { domain: None, name: Some(first) })
}

fn dotted(cursor: &mut Cursor) -> Parsed<Arc<str>> {
    let mut text = cursor.ident("a name")?.text.to_string();
    while cursor.eat(".") {
        text.push('.');
        text.push_str(&cursor.ident("a name")?.text);
    }
    Ok(text.into())
}

fn shape(cursor: &mut Cursor) -> Parsed<DeclaredShape> {
    if !cursor.eat("[") {
        return Ok(Some(Vec::new()));
    }
    if cursor.eat("]") {
        return Ok(None);
    }
    cursor.list("]", dimension).map(Some)
}

fn dimension(cursor: &mut Cursor) -> Parsed<Dimension> {
    let dim = match cursor.peek().kind {
        TokenKind::Sign(b'?') => {
            cursor.bump();
            DeclaredDim::Absent
        }
        TokenKind::Ident | TokenKind::Quoted => DeclaredDim::Param(cursor.name("a dimension")?.text),
        TokenKind::Int | TokenKind::Sign(b'-') => DeclaredDim::Value(number::int(cursor)?),
        _ => return Err(cursor.expected("a dimension (a number, a name or `?`)")),
    };
    Ok(Dimension { dim, denotation: None })
}

/// Parses the data of a tensor: elements (`{1,2}`) or a reference (`["location": "w.bin"]`).
pub fn tensor_data(cursor: &mut Cursor, ty: &Type, name: Option<Arc<str>>) -> Parsed<Tensor> {
    let (elem, dims) = concrete(cursor, ty)?;
    let mut tensor = Tensor { name, ..Tensor::new(elem, dims, TensorData::Absent) };
    if cursor.eat("{") {
        tensor.data = elements(cursor, elem)?;
    } else if cursor.eat("[") {
        tensor.data = TensorData::External(string_pairs(cursor)?);
        tensor.location = Some(1);
    } else {
        return Err(cursor.expected("the elements of the tensor (`{1, 2}`)"));
    }
    Ok(tensor)
}

/// Returns the element type and dimensions; reports an error unless `ty` is a tensor of static shape.
fn concrete(cursor: &mut Cursor, ty: &Type) -> Parsed<(ElemType, Vec<i64>)> {
    let span = cursor.peek().span;
    let TypeKind::Tensor { elem: Some(number), shape: Some(shape) } = &ty.kind else {
        return Err(cursor.fault(span, "only a tensor with a shape can have elements"));
    };
    let known = |dimension: &Dimension| match dimension.dim {
        DeclaredDim::Value(value) => Some(value),
        _ => None,
    };
    match (ElemType::from_number(*number), shape.iter().map(known).collect()) {
        (Some(elem), Some(dims)) => Ok((elem, dims)),
        _ => Err(cursor.fault(span, "the dimensions of a tensor with elements must be numbers")),
    }
}

/// Parses the entries of `int32_data`, `float_data` or a similar field, up to `}`.
/// For types narrower than a byte, an entry is a byte of packed elements.
fn elements(cursor: &mut Cursor, elem: ElemType) -> Parsed<TensorData> {
    use ElemType::*;
    if cursor.eat("}") {
        return Ok(TensorData::Absent);
    }
    Ok(match elem {
        Float | Complex64 => TensorData::Floats(cursor.list("}", number::float32)?),
        Double | Complex128 => TensorData::Doubles(cursor.list("}", number::float64)?),
        Int64 => TensorData::Int64s(cursor.list("}", number::int)?),
        Uint32 | Uint64 => TensorData::Uint64s(cursor.list("}", number::unsigned)?),
        String => TensorData::Strings(cursor.list("}", |cursor| {
            let text = cursor.string("a string")?.text;
            Ok(bytes::Bytes::copy_from_slice(text.as_bytes()))
        })?),
        _ => TensorData::Int32s(cursor.list("}", number::int32)?),
    })
}

/// Parses `"key": "value", …]`.
pub fn string_pairs(cursor: &mut Cursor) -> Parsed<Metadata> {
    cursor.list("]", |cursor| {
        let key = cursor.string("a key in quotes")?.text;
        cursor.expect(":")?;
        Ok((key, cursor.string("a value in quotes")?.text))
    })
}
