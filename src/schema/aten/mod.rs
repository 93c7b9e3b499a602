//! PyTorch's operators: what each takes, by the names that it prints them with.
//!
//! In rules and in graphs they are of the domain `aten`, called `relu` or `add.Tensor`. Tensors are inputs; so are
//! sizes, positions and numbers that a run may compute ([`Param::is_input`]). All else is an attribute: numbers as
//! tensors of no axis, since the floats of ONNX's attributes are too narrow for PyTorch's.

mod parse;
mod schemas;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub use schemas::{has_parts, is_sparse, versions};

/// The domain that PyTorch's operators are of.
pub const DOMAIN: &str = "aten";

/// What the names of operators begin with that take or give complex numbers: each of their tensors and numbers has its
/// imaginary part behind it.
pub const COMPLEX: &str = "complex.";

/// What an operator takes and gives.
#[derive(Debug)]
pub struct Signature {
    /// `add.Tensor`; without an overload for the default one.
    pub name: &'static str,
    pub params: Vec<Param>,
    /// How many values it gives; lists of them count as one.
    pub returns: usize,
}

/// A parameter.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    pub is_list: bool,
    /// Of how many a number stands for a list: `int[2]`.
    pub repeat: Option<usize>,
    /// `None` may be given.
    pub is_optional: bool,
    pub default: Option<Literal>,
    /// Whether it is an input of the node, not an attribute.
    pub is_input: bool,
}

/// What a parameter is; lists are of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tensor,
    Int,
    Float,
    Bool,
    Str,
    /// An int, a float or a truth value.
    Scalar,
    /// An element type.
    Elem,
}

/// What is given where nothing is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    None,
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(&'static str),
    Ints(Vec<i64>),
}

/// The signature of an operator, on real numbers; `None` for one that is not known.
pub fn signature(name: &str) -> Option<&'static Signature> {
    SIGNATURES.get(name.strip_prefix(COMPLEX).unwrap_or(name)).map(|&index| &ALL[index])
}

/// The signatures of all operators of a name: `add.Scalar` and `add.Tensor` for `add`.
pub fn overloads(base: &str) -> impl Iterator<Item = &'static Signature> {
    OVERLOADS.get(base).into_iter().flatten().map(|&index| &ALL[index])
}

static ALL: LazyLock<Vec<Signature>> =
    LazyLock::new(|| include_str!("signatures.txt").lines().filter_map(parse::signature).collect());

static SIGNATURES: LazyLock<FxHashMap<&str, usize>> =
    LazyLock::new(|| ALL.iter().enumerate().map(|(index, signature)| (signature.name, index)).collect());

static OVERLOADS: LazyLock<FxHashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut overloads: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, signature) in ALL.iter().enumerate() {
        overloads.entry(signature.name.split('.').next().unwrap_or_default()).or_default().push(index);
    }
    overloads
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        assert_eq!(ALL.len(), include_str!("signatures.txt").lines().count());
        assert_eq!(SIGNATURES.len(), ALL.len());
    }

    #[test]
    fn what_is_an_input() {
        let inputs = |name: &str| -> Vec<&str> {
            let params = signature(name).expect("it is known").params.iter();
            params.filter(|param| param.is_input).map(|param| param.name).collect()
        };
        assert_eq!(inputs("add.Tensor"), ["self", "other"]);
        assert_eq!(inputs("slice.Tensor"), ["self", "start", "end", "step"]);
        assert_eq!(inputs("conv2d"), ["input", "weight", "bias"]);
        assert_eq!(inputs("full"), ["size", "fill_value"]);
        assert!(signature("add").is_none());
    }

    #[test]
    fn defaults() {
        let default = |name: &str, param: &str| {
            let params = &signature(name).expect("it is known").params;
            params.iter().find(|one| one.name == param).expect("it has it").default.clone()
        };
        assert_eq!(default("layer_norm", "eps"), Some(Literal::Float(1e-05)));
        assert_eq!(default("conv2d", "stride"), Some(Literal::Ints(vec![1, 1])));
        assert_eq!(default("cross_entropy_loss", "reduction"), Some(Literal::Int(1)));
        assert_eq!(default("gelu", "approximate"), Some(Literal::Str("none")));
        assert_eq!(default("softmax.int", "dim"), None);
    }
}
