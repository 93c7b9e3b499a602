//! Findings about nodes that are illegal at an opset: their rule, location in the node, and help.

use crate::analyses::LintContext;
use crate::analyses::detectors::types::help;
use crate::analyses::locate::Part;
use crate::analyses::repairs::{casts, converted, of_types};
use crate::diag::RuleId;
use crate::diag::rule_ids::{
    ATTRIBUTE_NOT_IN_VERSION, BAD_ATTRIBUTE, BAD_VALUE, DUPLICATE_ATTRIBUTE, MISSING_ATTRIBUTE,
    MISSING_INPUT, NEGATIVE_INDEX_IN_VERSION, OP_NEWER_THAN_OPSET, OP_REMOVED, TARGET_UNSUPPORTED,
    TYPE_NOT_IN_VERSION, UNSUPPORTED_OP, WRONG_ARITY,
};
use crate::diag::{Applicability, Finding, Level};
use crate::graph::NodeId;
use crate::graph::syntax::suggest;
use crate::schema::{self, Illegal, Obstacle, Slot, Values};

/// Rules that report nodes that are illegal at an opset.
pub const RULES: [RuleId; 11] = [
    UNSUPPORTED_OP,
    OP_NEWER_THAN_OPSET,
    OP_REMOVED,
    ATTRIBUTE_NOT_IN_VERSION,
    TYPE_NOT_IN_VERSION,
    MISSING_INPUT,
    WRONG_ARITY,
    MISSING_ATTRIBUTE,
    BAD_ATTRIBUTE,
    DUPLICATE_ATTRIBUTE,
    NEGATIVE_INDEX_IN_VERSION,
];

/// Operators that ONNX Runtime adds to the default domain.
///
/// ONNX Runtime supports these operators even at opsets at which ONNX does not define them.
pub const RUNTIME_OPS: [&str; 11] = [
    "Affine",
    "Crop",
    "DynamicSlice",
    "GivenTensorFill",
    "ImageScaler",
    "LayerNormalization",
    "ParametricSoftplus",
    "Scale",
    "ScaledTanh",
    "SimplifiedLayerNormalization",
    "SkipSimplifiedLayerNormalization",
];

/// Opset to check a node against.
#[derive(Clone, Copy)]
pub struct Bound {
    /// Version of the node's domain.
    pub opset: u16,
    /// Whether the model imports this opset; if not, the options request it.
    pub as_stated: bool,
}

/// Reports an attribute that a node has more than once, for nodes of any domain.
pub fn duplicate_attributes(cx: &LintContext, id: NodeId) -> Option<Finding> {
    let attrs = &cx.model.nodes[id].attrs;
    let mut twice = attrs.iter().enumerate();
    let (_, attr) =
        twice.find(|(index, attr)| attrs[..*index].iter().any(|other| other.name == attr.name))?;
    let message = format!("`{}` has the attribute `{}` more than once", cx.node_name(id), attr.name);
    Some(cx.at_node(DUPLICATE_ATTRIBUTE, id, Part::Attr(&attr.name), message))
}

/// Creates the finding of an obstacle.
///
/// Returns `None` for vendor schemas, because the table has only one release of a vendor, and a newer release
/// may differ. Also returns `None` for type mismatches that DTY001 reports.
pub fn finding(cx: &LintContext, id: NodeId, illegal: &Illegal, bound: Bound) -> Option<Finding> {
    let node = &cx.model.nodes[id];
    let of_op = schema::versions(node.domain(), &node.op_type).first();
    let of_domain = schema::schemas(node.domain()).first();
    if of_op.or(of_domain).is_some_and(|schema| schema.vendor) {
        return None;
    }
    // DTY001 reports mismatched types at the model's opset, with the origin of each.
    if bound.as_stated && matches!(illegal.obstacle, Obstacle::Unlike { .. }) {
        return None;
    }
    let rule = rule(cx, id, illegal);
    let at = if bound.as_stated { "at" } else { "at requested" };
    let opset = bound.opset;
    let message = match &illegal.obstacle {
        Obstacle::NoSuchOp if illegal.since.is_none() => format!("`{}` {illegal}", node.op_name()),
        _ => format!("`{}` {illegal} ({at} opset {opset})", node.op_name()),
    };
    let finding = cx.at_node(rule, id, part(&illegal.obstacle), message);
    Some(advice(cx, id, illegal, bound, finding))
}

/// Creates the finding of a node that is written for opset `written`, not for that of the model.
pub fn of_other_opset(
    cx: &LintContext,
    id: NodeId,
    illegal: &Illegal,
    bound: Bound,
    written: u16,
) -> Option<Finding> {
    let mut finding = finding(cx, id, illegal, bound)?;
    if illegal.since.is_none() && !matches!(illegal.obstacle, Obstacle::Deprecated { .. }) {
        let since = if written > bound.opset { "since" } else { "until" };
        finding.message = format!(
            "`{}` is written as {since} opset {written}: at opset {}, it {illegal}",
            cx.model.nodes[id].op_name(),
            bound.opset
        );
        finding = finding.help(format!(
            "export all nodes at one opset; or, if only the opset of the model is wrong, set it to {written}"
        ));
    }
    Some(match converted(cx, id) {
        Some(_) => finding.fix(Applicability::Safe, format!("converts the node to opset {}", bound.opset)),
        None => finding,
    })
}

fn rule(cx: &LintContext, id: NodeId, illegal: &Illegal) -> RuleId {
    let node = &cx.model.nodes[id];
    let came_later = illegal.since.is_some();
    match &illegal.obstacle {
        Obstacle::NoSuchOp => {
            let rule = if came_later { OP_NEWER_THAN_OPSET } else { UNSUPPORTED_OP };
            let runs_somewhere = node.domain().is_empty() && RUNTIME_OPS.contains(&&*node.op_type);
            if runs_somewhere { rule.at(Level::Warning) } else { rule }
        }
        Obstacle::OtherEpoch { .. } if came_later => OP_NEWER_THAN_OPSET,
        Obstacle::Deprecated { .. } | Obstacle::OtherEpoch { .. } => OP_REMOVED,
        Obstacle::Attribute { name } => {
            let versions = schema::versions(node.domain(), &node.op_type);
            let elsewhere = versions.iter().any(|version| version.attr(name).is_some());
            if elsewhere { ATTRIBUTE_NOT_IN_VERSION } else { BAD_ATTRIBUTE }
        }
        // Exporters wrote negative axes, and runtimes supported them, before the specification allowed them.
        Obstacle::AttributeValue { allowed: Values::AtLeast(_), .. } if came_later => {
            ATTRIBUTE_NOT_IN_VERSION.at(Level::Warning)
        }
        Obstacle::AttributeKind { .. } | Obstacle::AttributeValue { .. } if came_later => {
            ATTRIBUTE_NOT_IN_VERSION
        }
        Obstacle::AttributeKind { .. }
        | Obstacle::AttributeValue { .. }
        | Obstacle::AttributeClash { .. } => BAD_ATTRIBUTE,
        Obstacle::AttributeMissing { .. } => MISSING_ATTRIBUTE,
        Obstacle::Count { slot: Slot::Input(at), .. } if *at >= node.inputs.len() => MISSING_INPUT,
        Obstacle::Count { .. } => WRONG_ARITY,
        Obstacle::Missing { .. } => MISSING_INPUT,
        Obstacle::Type { .. } | Obstacle::Unlike { .. } => TYPE_NOT_IN_VERSION,
        Obstacle::Negative { .. } => NEGATIVE_INDEX_IN_VERSION,
        // Only conversions and target profiles produce these obstacles; schemas do not.
        Obstacle::Constraint { .. } => BAD_VALUE,
        Obstacle::Refused { .. } => TARGET_UNSUPPORTED,
    }
}

fn part(obstacle: &Obstacle) -> Part<'_> {
    match obstacle.slot() {
        Some(Slot::Input(index)) => Part::Input(index),
        Some(Slot::Output(index)) => Part::Output(index),
        None => match obstacle {
            Obstacle::AttributeMissing { .. } => Part::Op,
            _ => obstacle.attribute().map_or(Part::Op, Part::Attr),
        },
    }
}

fn advice(cx: &LintContext, id: NodeId, illegal: &Illegal, bound: Bound, finding: Finding) -> Finding {
    let node = &cx.model.nodes[id];
    if let (Obstacle::Type { slot: Slot::Input(_), .. }, true) = (&illegal.obstacle, bound.as_stated)
        && of_types(cx, id).is_some()
    {
        let finding = finding.fix(Applicability::Safe, "converts the inputs, or rewrites the node");
        return match casts(cx, id) {
            Some(casts) => finding.help(help(cx, id, &casts)),
            None => finding,
        };
    }
    match (&illegal.obstacle, illegal.since) {
        (Obstacle::NoSuchOp, None) => no_such_op(cx, id, finding),
        (Obstacle::Attribute { name }, None) => {
            let in_force = schema::lookup(node.domain(), &node.op_type, bound.opset);
            let names = in_force.map_or(&[][..], |schema| schema.attrs).iter().map(|spec| spec.name);
            let unused = names.filter(|name| node.attr(name).is_none());
            match suggest::closest(name, unused) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding,
            }
        }
        (_, Some(since)) if bound.as_stated => finding
            .help(format!("export at opset {since}, or convert the model with onnx-fix --opset {since}")),
        _ if !bound.as_stated => finding.help("convert the model with onnx-fix --opset"),
        _ => finding,
    }
}

fn no_such_op(cx: &LintContext, id: NodeId, finding: Finding) -> Finding {
    let node = &cx.model.nodes[id];
    let elsewhere = schema::domains_of(&node.op_type).find(|domain| *domain != node.domain());
    let shown = if node.domain().is_empty() { "ai.onnx" } else { node.domain() };
    let finding = finding.label(format!("neither an operator of {shown} nor a function of the model"));
    match (elsewhere, schema::nearest(node.domain(), &node.op_type)) {
        (Some(domain), _) => {
            let shown = if domain.is_empty() { "ai.onnx" } else { domain };
            finding.help(format!("set the domain of the node to `{shown}`, which defines this operator"))
        }
        (None, Some(name)) => finding.help(format!("did you mean `{name}`?")),
        (None, None) => {
            finding.help("replace the operator by supported ones, or register it in a custom domain")
        }
    }
}
