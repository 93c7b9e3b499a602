//! Detects products of quantized operands, which optimizations must not change.

use crate::rules::bindings::Match;
use crate::rules::host::Host;
use crate::rules::rule::Phase;
use crate::schema::operator::{Work, operator};

/// Returns true if rules of `phase` must not change a match, since it has a quantized product.
/// A quantized product is a product, such as MatMul, with a dequantized input.
///
/// Runtimes fuse a DequantizeLinear and the product that uses its output into an integer kernel. Folding a
/// bias or factor into the product would prevent this fusion. Conversions, fixes and lowerings are never
/// restricted, because they are required.
pub fn is_quantized_product<H: Host>(host: &H, phase: Phase, found: &Match<H::Value, H::Node>) -> bool {
    let name = |node: H::Node| host.schema(node).map(|schema| (schema.domain, schema.name));
    let is_product = |node: H::Node| {
        name(node)
            .and_then(|(domain, name)| operator(domain, name))
            .is_some_and(|op| op.work == Work::Product)
    };
    let is_dequantized = |value: H::Value| {
        host.producers(value).into_iter().any(|(node, _)| name(node) == Some(("", "DequantizeLinear")))
    };
    matches!(phase, Phase::Simplify | Phase::Explore)
        && found
            .nodes
            .iter()
            .any(|&node| is_product(node) && host.inputs(node).into_iter().flatten().any(is_dequantized))
}
