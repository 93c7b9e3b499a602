//! Estimates the work of a call from the shapes of its inputs and outputs.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::egraph::{Call, EGraph};
use crate::graph::dim::Dim;
use crate::graph::{AttrValue, ElemType};
use crate::infer::Fact;

/// Assumed size of an unknown dimension, and of a symbol without a hint.
const UNSAID: i64 = 16;

/// Assumed number of elements of a tensor of unknown shape.
const UNKNOWN_ELEMENTS: u64 = 4096;

/// Operators that read no more of their first input than they write.
const PICKING: [&str; 4] = ["Gather", "GatherElements", "GatherND", "Slice"];

/// Assumed sizes of dynamic dimensions, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DimHints(FxHashMap<Arc<str>, i64>);

impl FromIterator<(Arc<str>, i64)> for DimHints {
    fn from_iter<T: IntoIterator<Item = (Arc<str>, i64)>>(guesses: T) -> Self {
        DimHints(guesses.into_iter().collect())
    }
}

/// Work of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes read and written.
    pub bytes: u64,
    /// Elements of the first output.
    pub elements: u64,
    /// Products accumulated; only meaningful for operators that accumulate products.
    pub products: u64,
}

impl DimHints {
    fn size(&self, dim: &Dim) -> u64 {
        let guess = dim.eval(&|symbol| Some(self.0.get(symbol.name()).copied().unwrap_or(UNSAID)));
        u64::try_from(guess.unwrap_or(UNSAID)).unwrap_or(0)
    }

    fn sizes(&self, fact: &Fact) -> Option<Vec<u64>> {
        Some(
            fact.dims()?.iter().map(|dim| dim.as_ref().map_or(UNSAID as u64, |dim| self.size(dim))).collect(),
        )
    }

    fn elements(&self, fact: &Fact) -> u64 {
        self.sizes(fact).map_or(UNKNOWN_ELEMENTS, |sizes| product(&sizes))
    }

    fn bytes(&self, fact: &Fact) -> u64 {
        let bits = fact.elem().and_then(ElemType::bits).unwrap_or(32) as u64;
        self.elements(fact).saturating_mul(bits) / 8
    }

    /// Returns the work of a call whose outputs have these facts.
    pub fn amount(&self, egraph: &EGraph, call: &Call, given: &[Fact]) -> Amount {
        let inputs: Vec<&Fact> = call.children[..usize::from(call.inputs)]
            .iter()
            .map(|&child| egraph[child].data.fact())
            .collect();
        let bytes = |facts: &mut dyn Iterator<Item = &Fact>| {
            facts.map(|fact| self.bytes(fact)).fold(0, u64::saturating_add)
        };
        let elements = given.first().map_or(0, |fact| self.elements(fact));
        let written = bytes(&mut given.iter());
        let read = match PICKING.contains(&&*egraph.analysis.tables.op(call.op).name) {
            true => written.saturating_add(bytes(&mut inputs.iter().skip(1).copied())),
            false => bytes(&mut inputs.iter().copied()),
        };
        Amount {
            bytes: read.saturating_add(written),
            elements,
            products: elements.saturating_mul(self.terms(egraph, call, &inputs)),
        }
    }

    /// Returns the number of products accumulated per element of the result.
    fn terms(&self, egraph: &EGraph, call: &Call, inputs: &[&Fact]) -> u64 {
        let tables = &egraph.analysis.tables;
        let sizes = |at: usize| inputs.get(at).and_then(|fact| self.sizes(fact));
        let is_set = |name: &str| matches!(tables.attr(call.attrs, name), Some(AttrValue::Int(1)));
        let terms = match &*tables.op(call.op).name {
            "MatMul" | "MatMulInteger" | "QLinearMatMul" => sizes(0).and_then(|a| a.last().copied()),
            "Gemm" => sizes(0).and_then(|a| a.get(usize::from(!is_set("transA"))).copied()),
            "Conv" | "ConvInteger" => sizes(1).map(|kernel| product(kernel.get(1..).unwrap_or_default())),
            "QLinearConv" => sizes(3).map(|kernel| product(kernel.get(1..).unwrap_or_default())),
            // Each input element is spread over a kernel; at stride 1, there are about as many output
            // elements.
            "ConvTranspose" => sizes(1).map(|kernel| {
                kernel
                    .first()
                    .copied()
                    .unwrap_or(1)
                    .saturating_mul(product(kernel.get(2..).unwrap_or_default()))
            }),
            // Attention, recurrent layers and transforms: assume one product per element of an input row.
            _ => sizes(0).and_then(|x| x.last().copied()),
        };
        terms.unwrap_or(UNSAID as u64)
    }
}

fn product(sizes: &[u64]) -> u64 {
    sizes.iter().fold(1, |product, &size| product.saturating_mul(size))
}
