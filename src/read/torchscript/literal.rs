//! Parses constants in the attributes of TorchScript operators.

use std::sync::Arc;

use crate::torch::types::elem_by_torch_name;
use crate::torch::{Argument, TensorLiteral, Type};

use super::types::split;

/// Maximum nesting of lists; deeper lists are kept as text.
const MAX_DEPTH: usize = 32;

/// Parses the value of an attribute.
///
/// Examples of values: `1`, `1.0000000000000001e-05`, `"cpu"`, `[1, 1]`, `{0.5}` (a tensor of one element),
/// ` 1  2 [ CPULongType{2} ]` (a small tensor), `<Tensor>` (a tensor too large to print).
pub fn parse(text: &str) -> Argument {
    parse_nested(text.trim(), 0)
}

fn parse_nested(text: &str, depth: usize) -> Argument {
    if let Some(string) = text.strip_prefix('"') {
        return Argument::Str(unescape(string.strip_suffix('"').unwrap_or(string)));
    }
    if let Some(element) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let elements = element.trim().parse().ok().map(|number| vec![number]);
        return Argument::Tensor(TensorLiteral { elem: None, shape: None, elements });
    }
    if let Some(tensor) = printed_tensor(text) {
        return Argument::Tensor(tensor);
    }
    if let Some(members) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        if depth > MAX_DEPTH {
            return Argument::Other(Arc::from(text));
        }
        return Argument::List(split(members).map(|member| parse_nested(member, depth + 1)).collect());
    }
    if let Some((_, list)) =
        text.strip_prefix("annotate(").and_then(|rest| rest.strip_suffix(')')?.split_once(", "))
    {
        return parse_nested(list, depth + 1);
    }
    match text {
        "<Tensor>" => Argument::Tensor(TensorLiteral::default()),
        "True" => Argument::Bool(true),
        "False" => Argument::Bool(false),
        "None" => Argument::None,
        _ => number(text).unwrap_or_else(|| Argument::Other(Arc::from(text))),
    }
}

fn number(text: &str) -> Option<Argument> {
    let int = text.parse().ok().map(Argument::Int);
    int.or_else(|| text.parse().ok().map(Argument::Float))
}

/// Converts a constant to its declared type.
///
/// An integer becomes a declared bool or float. A tensor gets the declared element type and shape.
pub fn typed(literal: Argument, ty: &Type) -> Argument {
    match (literal, ty) {
        (Argument::Int(int), Type::Bool) => Argument::Bool(int != 0),
        (Argument::Int(int), Type::Float) => Argument::Float(int as f64),
        (Argument::Tensor(mut literal), Type::Tensor(declared)) => {
            literal.elem = declared.elem.or(literal.elem);
            let sizes =
                declared.shape.as_ref().and_then(|shape| shape.iter().map(|size| size.fixed()).collect());
            literal.shape = sizes.or(literal.shape);
            Argument::Tensor(literal)
        }
        (literal, _) => literal,
    }
}

/// Replaces `\n` and `\t`; any other backslash is removed and the next character kept.
fn unescape(text: &str) -> Arc<str> {
    if !text.contains('\\') {
        return Arc::from(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            plain => plain,
        });
    }
    Arc::from(plain)
}

/// Parses a printed tensor: its elements, then `[ CPULongType{2,2} ]`.
fn printed_tensor(text: &str) -> Option<TensorLiteral> {
    let (body, kind) = text.strip_suffix(']')?.rsplit_once('[')?;
    let (kind, sizes) = kind.trim().strip_suffix('}')?.split_once("Type{")?;
    let elem = ["CPU", "CUDA", "XLA", "MPS", "Meta", ""]
        .iter()
        .find_map(|device| elem_by_torch_name(kind.strip_prefix(device)?));
    let shape: Option<Vec<i64>> = sizes
        .split(',')
        .filter(|size| !size.trim().is_empty())
        .map(|size| size.trim().parse().ok())
        .collect();
    let count =
        shape.as_ref().and_then(|shape| shape.iter().try_fold(1i64, |count, &size| count.checked_mul(size)));
    let elements = elements(body).filter(|elements| i64::try_from(elements.len()).ok() == count);
    Some(TensorLiteral { elem, shape, elements })
}

/// Parses the elements of a printed tensor, in row-major order.
///
/// A prefix `1e-03 *` scales all elements; `(1,.,.) =` is the title of a slice. Returns `None` if any other
/// word is not a number, as in a wide matrix that is printed in column ranges.
fn elements(body: &str) -> Option<Vec<f64>> {
    let mut scale = 1.0;
    let mut elements: Vec<f64> = Vec::new();
    for word in body.split_ascii_whitespace() {
        match word {
            "=" => {}
            "*" => scale = elements.pop()?,
            _ if word.starts_with('(') => {}
            _ => elements.push(word.parse().ok()?),
        }
    }
    Some(elements.into_iter().map(|element| element * scale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ElemType;

    fn check_tensor(text: &str, elem: Option<ElemType>, shape: Option<&[i64]>, elements: Option<&[f64]>) {
        let Argument::Tensor(tensor) = parse(text) else { panic!("{text} is no tensor") };
        assert_eq!(
            (tensor.elem, tensor.shape.as_deref(), tensor.elements.as_deref()),
            (elem, shape, elements),
            "{text}"
        );
    }

    #[test]
    fn printed_tensors_are_parsed() {
        let long = Some(ElemType::Int64);
        check_tensor("{0.5}", None, None, Some(&[0.5]));
        check_tensor("{(1,2)}", None, None, None);
        check_tensor(" 1  2  2 -3 [ CPULongType{2,2} ]", long, Some(&[2, 2]), Some(&[1.0, 2.0, 2.0, -3.0]));
        check_tensor(" 1\n 2\n[ CPULongType{2} ]", long, Some(&[2]), Some(&[1.0, 2.0]));
        check_tensor(
            "1e-03 *  1.5  2 [ CPUFloatType{2} ]",
            Some(ElemType::Float),
            Some(&[2]),
            Some(&[0.0015, 0.002]),
        );
        check_tensor(
            "(1,.,.) =    1  2  (2,.,.) =    3  4 [ CUDALongType{2,1,2} ]",
            long,
            Some(&[2, 1, 2]),
            Some(&[1.0, 2.0, 3.0, 4.0]),
        );
        check_tensor("Columns 1 to 2 1 2 [ CPULongType{2} ]", long, Some(&[2]), None);
        check_tensor("1 [ CPULongType{2} ]", long, Some(&[2]), None);
        check_tensor("[ CPUFloatType{0} ]", Some(ElemType::Float), Some(&[0]), Some(&[]));
        check_tensor("<Tensor>", None, None, None);
    }

    fn check(text: &str, expected: Argument) {
        assert_eq!(parse(text), expected, "{text}");
    }

    #[test]
    fn other_constants_are_parsed() {
        check("9223372036854775807", Argument::Int(i64::MAX));
        check("1.", Argument::Float(1.0));
        check("1.0000000000000001e-05", Argument::Float(1e-5));
        check("-inf", Argument::Float(f64::NEG_INFINITY));
        check(r#""a\n\"b""#, Argument::Str("a\n\"b".into()));
        check(
            "[1, [2, 3]]",
            Argument::List(vec![Argument::Int(1), Argument::List(vec![Argument::Int(2), Argument::Int(3)])]),
        );
        check("annotate(List[int], [4])", Argument::List(vec![Argument::Int(4)]));
        check("[]", Argument::List(vec![]));
        check("<Graph>", Argument::Other("<Graph>".into()));
    }

    #[test]
    fn constants_are_converted_to_their_declared_type() {
        assert_eq!(typed(Argument::Int(0), &Type::Bool), Argument::Bool(false));
        assert_eq!(typed(Argument::Int(2), &Type::Float), Argument::Float(2.0));
        assert_eq!(typed(Argument::Int(2), &Type::Int), Argument::Int(2));
    }
}
