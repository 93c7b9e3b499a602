//! Operator names.

use std::fmt;
use std::sync::Arc;

/// An operator, such as `aten::reshape`, `torch.ops.aten.add.Tensor` or `^PythonFunction`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op {
    /// Namespace, such as `aten`, `prim`, `onnx` or `torchvision`; may be empty.
    pub namespace: Arc<str>,
    /// Name, such as `reshape` or `add_`; a trailing underscore marks in-place operators.
    pub name: Arc<str>,
    /// Overload, such as `Tensor` in `add.Tensor`, or empty; for `prim::PythonOp`, the function's name.
    pub overload: Arc<str>,
}

impl Op {
    /// Parses the syntax of TorchScript (`aten::reshape`, `^Square`) or of `torch.export`
    /// (`torch.ops.aten.add.Tensor`, `aten.add.Tensor`, `_operator.mul`).
    pub fn parse(text: &str) -> Self {
        if let Some(function) = text.strip_prefix('^') {
            return Op::new("prim", "PythonOp", function);
        }
        if let Some((namespace, name)) = text.split_once("::") {
            let (name, overload) = name.split_once('.').unwrap_or((name, ""));
            return Op::new(namespace, name, overload);
        }
        let path = text.strip_prefix("torch.ops.").unwrap_or(text);
        match path.splitn(3, '.').collect::<Vec<_>>()[..] {
            [namespace, name, overload] => {
                Op::new(namespace, name, if overload == "default" { "" } else { overload })
            }
            [namespace, name] => Op::new(namespace, name, ""),
            _ => Op::new("", path, ""),
        }
    }

    fn new(namespace: &str, name: &str, overload: &str) -> Self {
        Op { namespace: namespace.into(), name: name.into(), overload: overload.into() }
    }

    /// Returns true if the operator has this namespace and name.
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        &*self.namespace == namespace && &*self.name == name
    }

    /// Returns the name of an operator in the namespace `aten`; `None` for other operators.
    pub fn aten(&self) -> Option<&str> {
        (&*self.namespace == "aten").then_some(&*self.name)
    }

    /// Returns the name of an operator in the exporter's namespace `onnx`; `None` for other operators.
    pub fn onnx(&self) -> Option<&str> {
        (&*self.namespace == "onnx").then_some(&*self.name)
    }

    /// Returns the functional name of an operator that writes elements in place, as `add` for `add_`.
    ///
    /// Returns `None` for an operator that is not in-place, or changes only metadata (`squeeze_`, `detach_`).
    pub fn writes(&self) -> Option<&str> {
        const SHAPE_ONLY: [&str; 13] = [
            "as_strided",
            "detach",
            "requires_grad",
            "resize",
            "resize_as",
            "set",
            "squeeze",
            "swapaxes",
            "swapdims",
            "t",
            "transpose",
            "unsqueeze",
            "rename",
        ];
        self.in_place_of().filter(|name| !SHAPE_ONLY.contains(name))
    }

    /// Returns true if the operator mutates its first operand: a tensor written in place, or a list.
    pub fn changes_first(&self) -> bool {
        const OF_LISTS: [&str; 4] = ["_set_item", "append", "extend", "insert"];
        self.in_place_of().is_some() || self.aten().is_some_and(|name| OF_LISTS.contains(&name))
    }

    /// Returns the functional name of an in-place operator: `add` for `add_`, `__or__` for `__ior__`.
    ///
    /// Returns `None` if the operator is not in-place. `__and__` is not in-place, despite its underscores.
    pub fn in_place_of(&self) -> Option<&str> {
        /// Operators of augmented assignments, such as `x |= y`.
        const AUGMENTED: [(&str, &str); 5] = [
            ("__iand__", "__and__"),
            ("__ilshift__", "__lshift__"),
            ("__ior__", "__or__"),
            ("__irshift__", "__rshift__"),
            ("__ixor__", "__xor__"),
        ];
        let name = self.aten()?;
        if let Some((_, functional)) = AUGMENTED.iter().find(|(augmented, _)| *augmented == name) {
            return Some(functional);
        }
        let bare = name.strip_suffix('_')?;
        (!bare.ends_with('_')).then_some(bare)
    }
}

/// Formats an operator as `aten::add` or `mylib::op`; a Python function by its name.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.namespace, &*self.name, &*self.overload) {
            ("prim", "PythonOp", function) if !function.is_empty() => f.write_str(function),
            ("", name, _) => f.write_str(name),
            (namespace, name, _) => write!(f, "{namespace}::{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: (&str, &str, &str)) {
        let op = Op::parse(text);
        assert_eq!((&*op.namespace, &*op.name, &*op.overload), expected, "{text}");
    }

    #[test]
    fn all_operator_spellings_are_parsed() {
        check("aten::reshape", ("aten", "reshape", ""));
        check("torch.ops.aten.add_.Tensor", ("aten", "add_", "Tensor"));
        check("torch.ops.aten.relu.default", ("aten", "relu", ""));
        check("aten.relu.default", ("aten", "relu", ""));
        check("torch.ops.higher_order.cond", ("higher_order", "cond", ""));
        check("_operator.mul", ("_operator", "mul", ""));
        check("^Square", ("prim", "PythonOp", "Square"));
        check("relu", ("", "relu", ""));
    }

    #[test]
    fn trailing_underscore_marks_in_place_operators() {
        assert_eq!(Op::parse("aten::add_").in_place_of(), Some("add"));
        assert_eq!(Op::parse("aten::add").in_place_of(), None);
        assert_eq!(Op::parse("aten::__and__").in_place_of(), None);
        assert_eq!(Op::parse("aten::__ior__").in_place_of(), Some("__or__"));
        assert_eq!(Op::parse("mylib::add_").in_place_of(), None);
        assert_eq!(Op::parse("aten::add_").writes(), Some("add"));
        assert_eq!(Op::parse("aten::squeeze_").writes(), None);
        assert!(Op::parse("aten::append").changes_first() && Op::parse("aten::add_").changes_first());
        assert!(!Op::parse("aten::stack").changes_first());
    }
}
