//! The sizes that the interface of a model leaves free.

use std::collections::BTreeMap;

use crate::graph::dim::{Dim, Symbol};
use crate::graph::{DeclaredDim, Model, Port, TypeKind, ValueId};
use crate::infer::Facts;

/// Sizes that are tried for symbols.
const SIZES: [i64; 8] = [3, 2, 5, 7, 4, 16, 33, 1];

/// Sizes beyond what is traced.
const LARGE: [i64; 3] = [1_000, 4_099, 65_536];

/// Where a free size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicDim {
    pub input: ValueId,
    pub axis: usize,
    /// The interface gives it a name, and so promises that it may be chosen; an axis without a size and a
    /// name may just not have been looked at.
    pub named: bool,
}

/// The symbols of the sizes of the main graph's inputs.
pub struct DynamicDims<'a> {
    facts: &'a Facts,
    sizes: BTreeMap<Symbol, DynamicDim>,
}

impl<'a> DynamicDims<'a> {
    pub fn new(model: &Model, facts: &'a Facts) -> Self {
        let mut sizes = BTreeMap::new();
        for port in &model.graphs[model.main].inputs {
            for (axis, dim) in facts[port.value].dims().unwrap_or_default().iter().enumerate() {
                for symbol in dim.iter().flat_map(Dim::symbols) {
                    let size = DynamicDim { input: port.value, axis, named: is_named(port, axis) };
                    sizes.entry(symbol.clone()).or_insert(size);
                }
            }
        }
        DynamicDims { facts, sizes }
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Where the first symbol of a size that `fixed` does not have comes from; `None` for a size with
    /// symbols that no input has, or with none at all.
    pub fn lost(&self, size: &Dim, fixed: &Dim) -> Option<DynamicDim> {
        let is_free = self.covers(size) && self.covers(fixed);
        let lost = size.symbols().find(|symbol| !fixed.contains(symbol)).filter(|_| is_free)?;
        self.sizes.get(lost).copied()
    }

    /// Whether every symbol of a size is a free one; so is a number.
    pub fn covers(&self, dim: &Dim) -> bool {
        dim.symbols().all(|symbol| self.sizes.contains_key(symbol))
    }

    /// Whether two sizes are equal wherever all symbols are large, as `min(3, time)` and 3 are: then the number is
    /// that of a slice, which only a short input lacks.
    pub fn holds_when_large(&self, size: &Dim, fixed: &Dim) -> bool {
        LARGE.iter().all(|&large| {
            let (size, fixed) = (size.eval(&|_| Some(large)), fixed.eval(&|_| Some(large)));
            size.is_some() && size == fixed
        })
    }

    /// A size for all symbols of `dim` at which it has a value that `fails`, as text: `batch = 3`.
    pub fn counterexample(&self, dim: &Dim, fails: impl Fn(i64) -> bool) -> Option<String> {
        let allowed = |symbol: &Symbol, size: i64| self.facts.bounds.of(symbol).contains(size);
        let is_one = |&size: &i64| {
            dim.eval(&|_| Some(size)).is_some_and(&fails) && dim.symbols().all(|symbol| allowed(symbol, size))
        };
        let size = SIZES.into_iter().find(is_one)?;
        let sizes: Vec<String> = dim.symbols().map(|symbol| format!("{symbol} = {size}")).collect();
        Some(sizes.join(", "))
    }
}

fn is_named(port: &Port, axis: usize) -> bool {
    let Some(TypeKind::Tensor { shape: Some(shape), .. }) = port.info.ty.as_ref().map(|ty| &ty.kind) else {
        return false;
    };
    shape.get(axis).is_some_and(|dimension| match &dimension.dim {
        // tf2onnx writes `unk__12`, and paddle2onnx `?`, for a size that nobody named.
        DeclaredDim::Param(name) => name.starts_with(char::is_alphabetic) && !name.starts_with("unk__"),
        DeclaredDim::Value(_) | DeclaredDim::Absent => false,
    })
}
