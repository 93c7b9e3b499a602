//! The opset that a node was written for, if it is invalid at the opset of its model.

use super::find::{lookup, versions};
use super::legal::{OpUse, Operand, obstacles};
use super::model::Schema;
use super::node_use::with_use;
use super::obstacle::Obstacle;
use crate::graph::Node;

/// First opset in which the second input of Resize is the region of interest, not the scales.
const RESIZE_WITH_ROI: u16 = 11;

/// Returns the opset closest to `opset` in which the attributes and operands of a node are valid.
///
/// Returns `opset` itself if the node is valid at `opset`, if the operator is newer than `opset`, or if no
/// other opset is found. Types are not checked.
pub fn opset_as_written(node: &Node, opset: i64) -> i64 {
    let Ok(imported) = u16::try_from(opset) else { return opset };
    // If the operator is newer than the opset, return the opset: some runtimes support it at older opsets.
    let in_force = lookup(node.domain(), &node.op_type, imported);
    if in_force.is_none_or(|schema| is_plainly_valid(node, schema)) {
        return opset;
    }
    with_use(node, |_| None, |op| written_for(op, imported)).map_or(opset, i64::from)
}

/// Returns the opset closest to `opset` in which a use of an operator is valid.
///
/// Returns `None` if the use is valid at `opset`, or if no other opset is found. Types are checked if they are known.
pub fn written_for(op: &OpUse, opset: u16) -> Option<u16> {
    let in_force = lookup(op.domain, op.name, opset);
    let is_relabelled = is_resize_without_roi(op, opset);
    let is_valid = |schema: &&'static Schema| !schema.deprecated && obstacles(op, schema).iter().all(is_mild);
    if in_force.filter(is_valid).is_some() && !is_relabelled {
        return None;
    }
    let is_deprecated = in_force.is_some_and(|schema| schema.deprecated);
    let all = versions(op.domain, op.name);
    if all.iter().any(|schema| schema.vendor) {
        return None;
    }
    let candidates =
        all.iter().enumerate().filter(|(_, schema)| is_valid(schema)).filter_map(|(at, schema)| {
            let last = all.get(at + 1).map(|next| next.since - 1);
            match last {
                // An operator that is deprecated at `opset` was not written for a later opset.
                _ if schema.since > opset && is_deprecated => None,
                _ if schema.since > opset => Some((schema.since - opset, schema.since)),
                Some(last) if last < opset => Some((opset - last, last)),
                // Skip the version at `opset`: only a Resize without region of interest gets here.
                _ => None,
            }
        });
    candidates.filter(|&(_, other)| !is_resize_without_roi(op, other)).min().map(|(_, other)| other)
}

/// Returns true if an obstacle does not show that the node was written for another opset.
///
/// Runtimes accept negative axes and indices in all versions.
fn is_mild(obstacle: &Obstacle) -> bool {
    matches!(
        obstacle,
        Obstacle::Negative { .. }
            | Obstacle::AttributeValue { allowed: super::model::Values::AtLeast(_), .. }
    )
}

/// Returns true if a quick check of attributes, inputs and outputs shows that a node is valid.
fn is_plainly_valid(node: &Node, schema: &Schema) -> bool {
    let is_known = |attr: &crate::graph::Attribute| {
        schema.attr(&attr.name).is_some_and(|spec| attr.value.kind().is_none_or(|kind| kind == spec.kind))
    };
    let required = || schema.attrs.iter().filter(|spec| spec.required);
    let count = |found: usize, least: u16, most: u16| {
        found >= usize::from(least) && (most == u16::MAX || found <= usize::from(most))
    };
    let is_doubtful = schema.deprecated || schema.name == "Resize" && node.inputs.len() == 2;
    !is_doubtful
        && count(node.inputs.len(), schema.min_inputs, schema.max_inputs)
        && count(node.outputs.len(), schema.min_outputs, schema.max_outputs)
        && node.attrs.iter().all(is_known)
        && required().all(|spec| node.attr(spec.name).is_some())
}

/// Returns true for a Resize at opset 11 or later whose second input holds the scales, as in opset 10.
/// Since opset 11, the second input is the region of interest.
pub fn is_resize_without_roi(op: &OpUse, opset: u16) -> bool {
    let is_present = |at: usize| op.inputs.get(at).is_some_and(|input| *input != Operand::Absent);
    op.domain.is_empty()
        && op.name == "Resize"
        && opset >= RESIZE_WITH_ROI
        && is_present(1)
        && !is_present(2)
        && !is_present(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{AttrValue, Attribute, Id as _, Model, ValueId};

    fn check(op: &str, attrs: &[(&str, AttrValue)], inputs: usize, opset: i64, expected: i64) {
        let value = |_| Some(ValueId::from_index(0));
        let attrs = attrs.iter().map(|(name, value)| Attribute::new(name, value.clone())).collect();
        let inputs = (0..inputs).map(value).collect();
        let node = Node { attrs, inputs, outputs: vec![value(0)], ..Node::new(Model::new().main, op) };
        assert_eq!(opset_as_written(&node, opset), expected, "{op} at {opset}");
    }

    #[test]
    fn nodes_belong_to_the_closest_opset_in_which_they_are_valid() {
        let axes = || [("axes", AttrValue::Ints(vec![1]))];
        check("ReduceMean", &axes(), 1, 18, 17);
        check("ReduceMean", &axes(), 1, 17, 17);
        check("ReduceMean", &[], 2, 13, 18);
        check("Unsqueeze", &[], 2, 11, 13);
        check("Unsqueeze", &axes(), 1, 21, 12);
        check("Upsample", &[("mode", AttrValue::String("nearest".into()))], 2, 13, 9);
        check("Gelu", &[], 1, 17, 17);
        check("GroupNormalization", &[("num_groups", AttrValue::Int(2))], 3, 18, 18);
        check("Resize", &[], 2, 13, 10);
        check("Resize", &[], 2, 10, 10);
        check("NoSuchOp", &[], 2, 10, 10);
        check("Relu", &axes(), 1, 10, 10);
    }
}
