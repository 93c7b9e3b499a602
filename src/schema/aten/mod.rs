//! Signatures of the operators of PyTorch.
//!
//! In rules and graphs, the operators have the domain `aten` and names such as `relu` or `add.Tensor`.
//! Tensor parameters are inputs, as are sizes, indices and numbers that a graph may compute
//! ([`Param::is_input`]). All other parameters are attributes.
//! In graphs, a float attribute is a tensor of doubles: float attributes of ONNX have less precision.

mod parse;
mod schemas;
mod stages;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub use schemas::{has_parts, is_sparse, versions};
pub use stages::{Stage, is_rotated, is_stepwise};

/// Domain of the operators of PyTorch.
pub const DOMAIN: &str = "aten";

/// Prefix of operators on complex numbers.
/// Each complex argument is passed as its real part, followed by its imaginary part.
pub const COMPLEX: &str = "complex.";

/// Signature of an operator.
#[derive(Debug)]
pub struct Signature {
    /// Name with its overload, `add.Tensor`; the default overload has no suffix.
    pub name: &'static str,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Number of results; a list counts as one.
    pub returns: usize,
    /// Whether a result is a list of tensors.
    pub returns_list: bool,
}

/// A parameter.
#[derive(Debug)]
pub struct Param {
    /// Name.
    pub name: &'static str,
    /// Type of the parameter, or of the elements if it is a list.
    pub kind: Kind,
    /// Whether the parameter is a list.
    pub is_list: bool,
    /// Length of the list to which a single number expands, such as 2 for `int[2]`.
    pub repeat: Option<usize>,
    /// Whether the argument may be `None`.
    pub is_optional: bool,
    /// Default value.
    pub default: Option<Literal>,
    /// Whether the parameter is an input of the node, not an attribute.
    pub is_input: bool,
}

/// Type of a parameter, or of the elements of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tensor,
    Int,
    Float,
    Bool,
    Str,
    /// An int, a float or a bool.
    Scalar,
    /// A dtype.
    Elem,
}

/// Default value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    None,
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(&'static str),
    Ints(Vec<i64>),
}

/// Returns the signature of an operator; `None` if the operator is unknown.
/// Ignores the prefixes [`COMPLEX`], and those of [`Stage::Start`] and [`Stage::End`].
pub fn signature(name: &str) -> Option<&'static Signature> {
    let name = match Stage::of(name) {
        Some((Stage::Step, _)) => return None,
        Some((_, name)) => name,
        None => name.strip_prefix(COMPLEX).unwrap_or(name),
    };
    SIGNATURES.get(name).map(|&index| &ALL[index])
}

/// Returns all overloads of a name: `add.Scalar` and `add.Tensor` for `add`.
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
    fn all_lines_are_parsed() {
        assert_eq!(ALL.len(), include_str!("signatures.txt").lines().count());
        assert_eq!(SIGNATURES.len(), ALL.len());
    }

    #[test]
    fn tensors_and_computable_numbers_are_inputs() {
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
    fn defaults_are_parsed() {
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
