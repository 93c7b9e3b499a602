//! Dynamic sizes of the model inputs.

use std::collections::BTreeMap;

use crate::graph::dim::{Dim, Symbol};
use crate::graph::{DeclaredDim, Model, Port, TypeKind, ValueId};
use crate::infer::Facts;

/// Sizes to try for symbols.
const SIZES: [i64; 8] = [3, 2, 5, 7, 4, 16, 33, 1];

/// Sizes larger than those of usual traces.
const LARGE: [i64; 3] = [1_000, 4_099, 65_536];

/// Origin of a dynamic size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicDim {
    /// Model input.
    pub input: ValueId,
    /// Axis of the input, from 0.
    pub axis: usize,
    /// Whether the interface names the dimension, and so declares it dynamic; generated names do not count.
    ///
    /// An axis with neither a size nor a name may still be static.
    pub named: bool,
}

/// Symbols in the shapes of the model inputs, with their origin.
pub struct DynamicDims<'a> {
    facts: &'a Facts,
    sizes: BTreeMap<Symbol, DynamicDim>,
}

impl<'a> DynamicDims<'a> {
    /// Collects the symbols in the shapes of the model inputs. `facts` must be those of `model`.
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

    /// Returns the symbols of named dimensions, in alphabetical order.
    pub fn named(&self) -> impl Iterator<Item = &Symbol> {
        self.sizes.iter().filter(|(_, dim)| dim.named).map(|(symbol, _)| symbol)
    }

    /// Returns true if no known input shape has a symbol.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the origin of the first symbol of `size` that `fixed` lacks.
    ///
    /// Returns `None` if `fixed` has all symbols of `size`, or if a symbol does not come from an input.
    pub fn lost(&self, size: &Dim, fixed: &Dim) -> Option<DynamicDim> {
        let is_free = self.covers(size) && self.covers(fixed);
        let lost = size.symbols().find(|symbol| !fixed.contains(symbol)).filter(|_| is_free)?;
        self.sizes.get(lost).copied()
    }

    /// Returns true if every symbol of a size comes from an input; true for a constant.
    pub fn covers(&self, dim: &Dim) -> bool {
        dim.symbols().all(|symbol| self.sizes.contains_key(symbol))
    }

    /// Returns true if two sizes are equal when their symbols are large, as `min(3, time)` and 3 are.
    ///
    /// If `size` equals the constant `fixed` for all long inputs, the constant is usually the length of a slice, and
    /// the model only fails for short inputs.
    pub fn holds_when_large(&self, size: &Dim, fixed: &Dim) -> bool {
        LARGE.iter().all(|&large| {
            let (size, fixed) = (size.eval(&|_| Some(large)), fixed.eval(&|_| Some(large)));
            size.is_some() && size == fixed
        })
    }

    /// Returns sizes of the symbols in `dim` at which its value satisfies `fails`, as text: `batch = 3`.
    pub fn counterexample(&self, dim: &Dim, fails: impl Fn(i64) -> bool) -> Option<String> {
        let size = self.failing_size([dim], |[value]| fails(value))?;
        Some(sizes_text(dim, size))
    }

    /// Returns a size for which `dims` satisfy `fails` if all their symbols have this size.
    pub fn failing_size<const N: usize>(
        &self,
        dims: [&Dim; N],
        fails: impl Fn([i64; N]) -> bool,
    ) -> Option<i64> {
        let allowed = |symbol: &Symbol, size: i64| self.facts.bounds.of(symbol).contains(size);
        SIZES.into_iter().find(|&size| {
            let values = dims.map(|dim| dim.eval(&|_| Some(size)));
            let fails = values.iter().all(Option::is_some) && fails(values.map(Option::unwrap_or_default));
            fails && dims.iter().all(|dim| dim.symbols().all(|symbol| allowed(symbol, size)))
        })
    }
}

/// Returns text that assigns `size` to each symbol of a dimension: `batch = 3`.
pub fn sizes_text(dim: &Dim, size: i64) -> String {
    let sizes: Vec<String> = dim.symbols().map(|symbol| format!("{symbol} = {size}")).collect();
    sizes.join(", ")
}

fn is_named(port: &Port, axis: usize) -> bool {
    let Some(TypeKind::Tensor { shape: Some(shape), .. }) = port.info.ty.as_ref().map(|ty| &ty.kind) else {
        return false;
    };
    shape.get(axis).is_some_and(|dimension| match &dimension.dim {
        // tf2onnx writes `unk__12`, and paddle2onnx `?`, for an unnamed dimension.
        DeclaredDim::Param(name) => name.starts_with(char::is_alphabetic) && !name.starts_with("unk__"),
        DeclaredDim::Value(_) | DeclaredDim::Absent => false,
    })
}
