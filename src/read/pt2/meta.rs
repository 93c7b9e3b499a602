//! Metadata of values and nodes in a program: types, source lines, module paths, output keys.

use std::sync::Arc;

use serde_json::Value as Json;

use super::expression::readable;
use super::schema::{Node, TensorMeta};
use crate::diag::SourcePlace;
use crate::graph::ElemType;
use crate::source;
use crate::torch::{Size, TensorType};

/// Returns the element type, shape and strides.
pub fn tensor_type(meta: &TensorMeta) -> TensorType {
    let strides = meta.strides.iter().map(|stride| size(stride).traced()).collect::<Option<Vec<i64>>>();
    TensorType {
        elem: elem(meta.dtype),
        shape: Some(meta.sizes.iter().map(size).collect()),
        strides: strides.filter(|strides| strides.len() == meta.sizes.len()),
    }
}

/// Returns the element type for a `ScalarType` of `torch/_export/serde/schema.py`.
///
/// The numbers differ from those of the `ScalarType` in C++.
pub fn elem(number: u32) -> Option<ElemType> {
    Some(match number {
        1 => ElemType::Uint8,
        2 => ElemType::Int8,
        3 => ElemType::Int16,
        4 => ElemType::Int32,
        5 => ElemType::Int64,
        6 => ElemType::Float16,
        7 => ElemType::Float,
        8 => ElemType::Double,
        10 => ElemType::Complex64,
        11 => ElemType::Complex128,
        12 => ElemType::Bool,
        13 => ElemType::Bfloat16,
        28 => ElemType::Uint16,
        29 => ElemType::Float8e4m3fn,
        30 => ElemType::Float8e5m2,
        31 => ElemType::Float8e4m3fnuz,
        32 => ElemType::Float8e5m2fnuz,
        34 => ElemType::Uint32,
        35 => ElemType::Uint64,
        _ => return None,
    })
}

/// Parses a size such as `{"as_int": 4}` or `{"as_expr": {"expr_str": …, "hint": {"as_int": 2}}}`.
fn size(json: &Json) -> Size {
    if let Some(number) = json.get("as_int").and_then(Json::as_i64) {
        return Size::Fixed(number);
    }
    let expression = json.get("as_expr");
    let Some(text) = expression.and_then(|it| it.get("expr_str")).and_then(Json::as_str) else {
        return Size::Unknown;
    };
    let traced = expression.and_then(|it| it.get("hint")?.get("as_int")?.as_i64());
    Size::Symbol { name: Arc::from(readable(text)), traced }
}

/// Returns the innermost line of user code in a stack trace, or else the innermost line.
pub fn source_line(stack: &str) -> Option<SourcePlace> {
    let frame = source::user_frame(stack).or_else(|| source::frames(stack).into_iter().next())?;
    Some(SourcePlace {
        file: Arc::from(frame.file),
        line: frame.line,
        column: 0,
        width: 0,
        code: frame.code.map(Arc::from),
        function: (!frame.function.is_empty()).then(|| Arc::from(frame.function)),
        cell: None,
    })
}

/// Returns the module path, such as `/fc` for `L__self__,,net.Net;L__self__fc,fc,torch.nn.Linear`.
///
/// Each entry has a key, the path from the outermost module and the class. Early versions wrote the path as
/// `L['self'].fc`.
pub fn module_path(stack: &str) -> Arc<str> {
    let mut path = String::new();
    for entry in stack.split(';') {
        let name = entry.split(',').nth(1).unwrap_or("");
        let name = name.strip_prefix("L['self']").unwrap_or(name).trim_start_matches('.');
        if !name.is_empty() && !name.starts_with("_empty_nn_module_stack") {
            path.push('/');
            path.push_str(name);
        }
    }
    Arc::from(path)
}

/// Returns the class of the outermost module.
pub fn root_class(node: &Node) -> Option<Arc<str>> {
    let stack = node.metadata.get("nn_module_stack")?.as_str()?;
    let mut entry = stack.split(';').next()?.split(',').skip(1);
    let (path, class) = (entry.next()?, entry.next()?);
    (path.is_empty() && !class.is_empty()).then(|| Arc::from(class))
}

/// Returns the keys of the outputs if the program returns a dict.
///
/// `out_spec` is a tree in JSON; each context in it is a string with JSON.
pub fn dict_keys(out_spec: &str) -> Option<Vec<Arc<str>>> {
    let spec: Json = serde_json::from_str(out_spec).ok()?;
    let root = spec.get(1)?;
    let kind = root.get("type")?.as_str()?;
    if !matches!(kind, "builtins.dict" | "collections.OrderedDict") {
        return None;
    }
    let keys: Json = serde_json::from_str(root.get("context")?.as_str()?).ok()?;
    keys.as_array()?.iter().map(|key| Some(Arc::from(key.as_str()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_paths_are_read_in_all_versions() {
        assert_eq!(
            &*module_path("L__self__,,net.Net;L__self__net,net,torch.Sequential;L__self__net.2,net.2,D"),
            "/net/net.2"
        );
        assert_eq!(
            &*module_path("L__self__,L['self'],net.Net;L__self___fc,L['self'].fc,torch.Linear"),
            "/fc"
        );
        assert_eq!(&*module_path(""), "");
    }

    #[test]
    fn output_keys_are_read_for_dicts_only() {
        let spec = r#"[1, {"type": "builtins.dict", "context": "[\"sum\", \"mean\"]", "children_spec": []}]"#;
        assert_eq!(dict_keys(spec), Some(vec!["sum".into(), "mean".into()]));
        assert_eq!(
            dict_keys(r#"[1, {"type": "builtins.tuple", "context": "null", "children_spec": []}]"#),
            None
        );
        assert_eq!(dict_keys("{"), None);
    }
}
