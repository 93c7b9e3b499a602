//! Parses the types that TorchScript prints, including notations of early releases.

use std::sync::Arc;

use crate::torch::types::elem_by_torch_name;
use crate::torch::{Size, TensorType, Type};

use super::cursor::Cursor;

/// Maximum nesting of types; deeper types are kept as text.
const MAX_DEPTH: usize = 32;

/// Parses the type after a colon.
///
/// Examples of types: `Float(2, 4, strides=[4, 1], requires_grad=0, device=cpu)`, `int[]`, `Tensor?[]`,
/// `(Tensor, Tensor)`, `__torch__.net.Block`.
pub fn parse(text: &str) -> Type {
    parse_nested(text.trim(), 0)
}

fn parse_nested(text: &str, depth: usize) -> Type {
    let other = || Type::Other(Arc::from(text));
    if depth > MAX_DEPTH {
        return other();
    }
    if let Some(element) = text.strip_suffix("[]").or_else(|| inner(text, "List[")) {
        return Type::List(Box::new(parse_nested(element, depth + 1)));
    }
    if let Some(present) = text.strip_suffix('?').or_else(|| inner(text, "Optional[")) {
        return parse_nested(present, depth + 1);
    }
    if let Some(members) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return Type::Tuple(split(members).map(|member| parse_nested(member, depth + 1)).collect());
    }
    // `ClassType<…>` is the notation of releases before 1.3.
    let class = text.strip_prefix("__torch__.");
    if let Some(class) = class.or_else(|| text.strip_prefix("ClassType<")?.strip_suffix('>')) {
        return Type::Class(unmangled(class));
    }
    match text {
        "int" | "SymInt" => Type::Int,
        "float" => Type::Float,
        "bool" => Type::Bool,
        "str" => Type::Str,
        "NoneType" | "None" => Type::None,
        // Releases before 1.1 print an unknown type in this way.
        "Dynamic" | "UNKNOWN_TYPE" => Type::Tensor(TensorType::default()),
        _ if text.starts_with("Dict(") || text.starts_with("Dict[") => Type::Dict,
        _ => tensor(text).map_or_else(other, Type::Tensor),
    }
}

/// Returns the text between `open`, such as `Optional[`, and the closing bracket of a type.
fn inner<'a>(text: &'a str, open: &str) -> Option<&'a str> {
    text.strip_prefix(open)?.strip_suffix(']')
}

/// Removes the parts that TorchScript inserts in a class path, as in `net.___torch_mangle_12.Block`.
fn unmangled(class: &str) -> Arc<str> {
    let parts: Vec<&str> = class.split('.').filter(|part| !part.starts_with("___torch_mangle_")).collect();
    Arc::from(parts.join("."))
}

/// Parses `Float(2, *)`, `Long(device=cpu)` (rank 0), `FloatTensor` and `Tensor` (unknown rank).
fn tensor(text: &str) -> Option<TensorType> {
    let (name, details) = match text.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').unwrap_or(rest))),
        None => (text, None),
    };
    let elem = elem_by_torch_name(name).or_else(|| elem_by_torch_name(name.strip_suffix("Tensor")?));
    (elem.is_some() || name == "Tensor").then(|| TensorType {
        elem,
        shape: details.map(shape),
        strides: details.and_then(strides),
    })
}

/// Parses the sizes of `2, *, SS(-3), strides=[4, 1], device=cpu`.
///
/// Releases 1.5 to 1.7 print the stride after each size (`2:4`); earlier ones mark uncertain sizes with `!`.
fn shape(details: &str) -> Vec<Size> {
    let sizes = split(details).filter(|part| !part.contains('='));
    sizes
        .map(|part| {
            let size = part.split(':').next().unwrap_or(part).trim_end_matches('!');
            match size.parse() {
                Ok(number) => Size::Fixed(number),
                Err(_) if size.starts_with("SS(") => Size::Symbol { name: Arc::from(size), traced: None },
                Err(_) => Size::Unknown,
            }
        })
        .collect()
}

/// Returns the strides in the details of a type, such as `2, 4, strides=[4, 1]`.
fn strides(details: &str) -> Option<Vec<i64>> {
    let (_, rest) = details.split_once("strides=[")?;
    let (list, _) = rest.split_once(']')?;
    list.split(',').map(|stride| stride.trim().parse().ok()).collect()
}

/// Splits a text at the commas outside of all brackets; an empty text has no parts.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut cursor = Cursor::new(text);
    std::iter::from_fn(move || {
        if cursor.is_at_end() {
            return None;
        }
        let part = cursor.take_balanced(b",").unwrap_or_else(|| cursor.take_all());
        cursor.eat(",");
        Some(part.trim())
    })
    .filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ElemType;

    fn check(text: &str, elem: Option<ElemType>, shape: Option<&str>) {
        let Type::Tensor(tensor) = parse(text) else { panic!("{text} is no tensor") };
        let sizes = tensor.shape.map(|s| s.iter().map(Size::to_string).collect::<Vec<_>>().join(" "));
        assert_eq!((tensor.elem, sizes.as_deref()), (elem, shape), "{text}");
    }

    #[test]
    fn tensor_types_of_all_releases_are_parsed() {
        let float = Some(ElemType::Float);
        check("Float(2, 4, strides=[4, 1], requires_grad=0, device=cpu)", float, Some("2 4"));
        check("Float(2:4, 4:1, requires_grad=0, device=cpu)", float, Some("2 4"));
        check("Float(2!, 4!)", float, Some("2 4"));
        check("Float(*, 6, strides=[6, 1], device=cuda:0)", float, Some("* 6"));
        check("Float(SS(-2), 6)", float, Some("SS(-2) 6"));
        check("Long(requires_grad=0, device=cpu)", Some(ElemType::Int64), Some(""));
        check("Long()", Some(ElemType::Int64), Some(""));
        check("BFloat16(1)", Some(ElemType::Bfloat16), Some("1"));
        check("FloatTensor", float, None);
        check("Tensor", None, None);
        check("Tensor?", None, None);
    }

    #[test]
    fn other_types_are_parsed() {
        let tensor = || Type::Tensor(TensorType::default());
        assert_eq!(parse("int[]"), Type::List(Box::new(Type::Int)));
        assert_eq!(parse("Tensor?[]"), Type::List(Box::new(tensor())));
        assert_eq!(parse("Optional[Tensor]"), tensor());
        assert_eq!(
            parse("(Tensor, (int, float))"),
            Type::Tuple(vec![tensor(), Type::Tuple(vec![Type::Int, Type::Float])])
        );
        assert_eq!(parse("Dict(str, Tensor)"), Type::Dict);
        assert_eq!(parse("__torch__.net.___torch_mangle_3.Block"), Type::Class("net.Block".into()));
        assert_eq!(parse("ClassType<Net>"), Type::Class("Net".into()));
        assert_eq!(parse("Dynamic"), tensor());
        assert_eq!(parse("Device"), Type::Other("Device".into()));
        assert_eq!(parse("Floaty(2)"), Type::Other("Floaty(2)".into()));
        let deep = format!("{}int{}", "(".repeat(9999), ")".repeat(9999));
        assert!(matches!(parse(&deep), Type::Tuple(_)));
    }
}
