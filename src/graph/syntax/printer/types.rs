//! Printing of types.

use crate::graph::{DeclaredDim, DeclaredShape, ElemType, Type, TypeKind};

use super::push_name;

/// Writes a type such as `float[N,3]`; nothing for an undefined type.
pub fn push_type(out: &mut String, ty: &Type) {
    match &ty.kind {
        TypeKind::Undefined => {}
        TypeKind::Tensor { elem, shape } => push_tensor_type(out, *elem, shape),
        TypeKind::SparseTensor { elem, shape } => {
            out.push_str("sparse_tensor(");
            push_tensor_type(out, *elem, shape);
            out.push(')');
        }
        TypeKind::Sequence(inner) => push_wrapped(out, "seq(", inner.as_deref()),
        TypeKind::Optional(inner) => push_wrapped(out, "optional(", inner.as_deref()),
        TypeKind::Map { key, value } => {
            out.push_str("map(");
            push_elem(out, *key);
            push_wrapped(out, ", ", value.as_deref());
        }
        TypeKind::Opaque { domain, name } => {
            out.push_str("opaque(");
            if let Some(domain) = domain.as_deref().filter(|domain| !domain.is_empty()) {
                out.push_str(domain);
                out.push(',');
            }
            out.push_str(name.as_deref().unwrap_or(""));
            out.push(')');
        }
    }
}

fn push_wrapped(out: &mut String, open: &str, inner: Option<&Type>) {
    out.push_str(open);
    if let Some(inner) = inner {
        push_type(out, inner);
    }
    out.push(')');
}

/// Writes an element type; unknown numbers are printed as `undefined`.
pub fn push_elem(out: &mut String, number: Option<i32>) {
    let elem = number.and_then(ElemType::from_number);
    out.push_str(elem.map_or("undefined", ElemType::name));
}

fn push_tensor_type(out: &mut String, elem: Option<i32>, shape: &DeclaredShape) {
    push_elem(out, elem);
    match shape {
        None => out.push_str("[]"),
        Some(dims) if dims.is_empty() => {}
        Some(dims) => {
            for (index, dimension) in dims.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                match &dimension.dim {
                    DeclaredDim::Value(value) => out.push_str(&value.to_string()),
                    DeclaredDim::Param(name) => push_name(out, name),
                    DeclaredDim::Absent => out.push('?'),
                }
            }
            out.push(']');
        }
    }
}

/// Writes the type of a tensor, such as `float[2,3]`.
pub fn push_dims(out: &mut String, elem: Option<i32>, dims: &[i64]) {
    push_elem(out, elem);
    for (index, dim) in dims.iter().enumerate() {
        out.push(if index == 0 { '[' } else { ',' });
        out.push_str(&dim.to_string());
    }
    if !dims.is_empty() {
        out.push(']');
    }
}
