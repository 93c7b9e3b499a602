//! SHP002 and EXP014: declared shapes that differ from inferred ones.

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::repairs::{MisdeclaredInput, misdeclared_inputs};
use crate::diag::rule_ids::{DECLARED_SHAPE_WRONG, LOST_SYMBOL};
use crate::diag::{Applicability, Finding, Level, Sink};
use crate::graph::dim::{Answer, Dim, Symbol, SymbolKind};
use crate::graph::{DeclaredDim, Dimension, NodeId, Port, TypeKind, ValueId};
use crate::infer::{Conflict, Contradiction, Facts, Fault};
use rustc_hash::FxHashSet;

/// Detector of EXP014 and SHP002.
pub const DETECTOR: Detector = Detector { rules: &[DECLARED_SHAPE_WRONG, LOST_SYMBOL], run };

fn wrong(cx: &LintContext, found: &Contradiction) -> Finding {
    let name = cx.name(found.value);
    let message = format!("`{name}` is declared as {}, but is {}", found.declared, found.inferred);
    // ONNX Runtime rejects wrong element types, and only warns about wrong shapes.
    let is_of_type = matches!(found.what, Conflict::Elem(..) | Conflict::Kind);
    let rule = if is_of_type { DECLARED_SHAPE_WRONG.at(Level::Error) } else { DECLARED_SHAPE_WRONG };
    cx.at_value(rule, found.value, message)
        .label(format!("{}", found.inferred))
        .related(cx.places.declaration(found.value), "declared here")
        .note("runtimes warn, plan memory for the wrong shape, or reject the model")
        .fix(Applicability::Safe, "corrects the declaration")
}

/// Output axis that is declared static, although its size depends on the inputs.
pub struct StaticDim {
    /// Axis, from 0.
    pub axis: usize,
    /// Declared size.
    pub number: i64,
    /// Inferred size.
    pub size: Dim,
}

fn pinned(cx: &LintContext, port: &Port, pinned: &[StaticDim]) -> Finding {
    let describe = |one: &StaticDim| format!("axis {} as {}, but it is {}", one.axis, one.number, one.size);
    let list: Vec<String> = pinned.iter().map(describe).collect();
    let message = format!("output `{}` declares {}", cx.name(port.value), list.join(", and "));
    // A caller that only uses the declared size is not affected, so the level is info.
    let rule = DECLARED_SHAPE_WRONG.at(Level::Info);
    cx.at_declaration(rule, port.value, message)
        .label("this size depends on the inputs")
        .note("if the size differs from the declared one, runtimes warn, or plan memory for the wrong shape")
        .fix(Applicability::Safe, "declares it as dynamic")
}

/// Iterates over the axes with their declared and inferred sizes.
///
/// Yields no axes if the declared or inferred rank is unknown, or if the two ranks differ.
fn declared_axes<'a>(
    facts: &'a Facts,
    port: &'a Port,
) -> impl Iterator<Item = (usize, &'a Dimension, &'a Option<Dim>)> {
    let declared = match port.info.ty.as_ref().map(|ty| &ty.kind) {
        Some(TypeKind::Tensor { shape: Some(declared), .. }) => &declared[..],
        _ => &[],
    };
    let known = facts[port.value].dims().filter(|dims| dims.len() == declared.len()).unwrap_or_default();
    declared.iter().zip(known).enumerate().map(|(axis, (dimension, known))| (axis, dimension, known))
}

/// Returns the output axes that are declared static, although their sizes depend on the inputs.
///
/// Only sizes that inference derives from dimensions of the inputs are returned.
pub fn pinned_sizes(facts: &Facts, port: &Port) -> Vec<StaticDim> {
    let of_axis = |(axis, dimension, known): (usize, &Dimension, &Option<Dim>)| {
        let DeclaredDim::Value(number) = dimension.dim else { return None };
        let size = known.as_ref().filter(|size| size.as_const().is_none())?;
        let is_of_input = |symbol: &Symbol| !facts.has_made(symbol) || facts.is_free(symbol);
        let varies = size.symbols().all(|symbol| is_of_input(symbol) && symbol.kind() == SymbolKind::Size)
            && size.equals(&Dim::known(number), &facts.bounds) == Answer::Unknown
            && TRIED.iter().any(|&tried| size_at(size, tried).is_some_and(|size| size != number));
        (number >= 0 && varies).then(|| StaticDim { axis, number, size: size.clone() })
    };
    declared_axes(facts, port).filter_map(of_axis).collect()
}

/// Sizes to substitute for the symbolic dimensions of an expression.
///
/// The substitution shows whether the value of the expression varies: an expression can be constant without
/// simplifying to a constant.
const TRIED: [i64; 4] = [1, 2, 3, 5];

/// Evaluates a size with `tried` for every symbol.
fn size_at(size: &Dim, tried: i64) -> Option<i64> {
    size.substitute(&|_| Some(Dim::known(tried)))?.as_const()
}

/// Declared dimension with a generated name, although its size follows from the inputs.
pub struct LostSize {
    /// Axis, from 0.
    pub axis: usize,
    /// Declared name.
    pub name: String,
    /// Inferred size.
    pub size: Dim,
}

fn lost(cx: &LintContext, value: ValueId, lost: &[LostSize]) -> Finding {
    let list: Vec<String> = lost.iter().map(|lost| format!("`{}` is {}", lost.name, lost.size)).collect();
    let message = format!("the exporter lost axis names of output `{}`: {}", cx.name(value), list.join(", "));
    cx.at_declaration(LOST_SYMBOL, value, message).fix(Applicability::Safe, "restores these names")
}

/// Creates the finding of a subgraph input that does not receive its declared type.
fn wrong_input(cx: &LintContext, found: &MisdeclaredInput) -> Finding {
    let value = cx.model.graphs[found.graph].inputs[found.input].value;
    let name = cx.name(value);
    let (declared, received) = match (found.declared.elem(), found.received.elem()) {
        (Some(declared), Some(received)) if declared != received => {
            (declared.to_string(), received.to_string())
        }
        _ => (found.declared.to_string(), found.received.to_string()),
    };
    let message = format!("`{name}` is declared as {declared}, but receives {received}");
    let rule = DECLARED_SHAPE_WRONG.at(Level::Error);
    let mut finding = rule.finding(message, cx.places.declaration(value));
    finding.anchor.module = name.to_owned().into();
    finding.label(received).fix(Applicability::Safe, "corrects the declaration")
}

/// Returns the values downstream of nodes with a wrong input type.
///
/// Types inferred downstream of a wrong type are guesses.
fn downstream_of_type_faults(cx: &LintContext) -> FxHashSet<ValueId> {
    let is_of_types =
        |fault: &Fault| matches!(fault, Fault::TypeMismatch { .. } | Fault::TypeNotAllowed { .. });
    let faults = cx.facts.faults.iter().filter(|(_, fault)| is_of_types(fault));
    let faulty: FxHashSet<NodeId> = faults.map(|(node, _)| *node).collect();
    let mut found: FxHashSet<ValueId> = FxHashSet::default();
    if faulty.is_empty() {
        return found;
    }
    for (id, node) in cx.nodes() {
        if faulty.contains(&id) || node.inputs.iter().flatten().any(|input| found.contains(input)) {
            found.extend(node.outputs.iter().flatten());
        }
    }
    found
}

fn run(cx: &LintContext, sink: &mut Sink) {
    let guessed = downstream_of_type_faults(cx);
    let is_sure = |found: &&Contradiction| {
        !matches!(found.what, Conflict::Elem(..) | Conflict::Kind) || !guessed.contains(&found.value)
    };
    sink.extend(cx.facts.contradictions.iter().filter(is_sure).map(|found| wrong(cx, found)));
    sink.extend(misdeclared_inputs(cx.model, cx.facts).iter().map(|found| wrong_input(cx, found)));
    for port in &cx.model.graphs[cx.model.main].outputs {
        let sizes = lost_sizes(cx.facts, port);
        sink.extend((!sizes.is_empty()).then(|| lost(cx, port.value, &sizes)));
        let sizes = pinned_sizes(cx.facts, port);
        sink.extend((!sizes.is_empty()).then(|| pinned(cx, port, &sizes)));
    }
}

/// Returns the declared dimensions with generated names whose sizes follow from the inputs.
pub fn lost_sizes(facts: &Facts, port: &Port) -> Vec<LostSize> {
    let of_axis = |(axis, dimension, known): (usize, &Dimension, &Option<Dim>)| {
        let DeclaredDim::Param(name) = &dimension.dim else { return None };
        let dim = known.as_ref()?;
        let is_given = |symbol: &Symbol| !is_made_up(symbol.name()) && !facts.has_made(symbol);
        let is_named = dim.symbols().all(|symbol| is_given(symbol) && symbol.kind() == SymbolKind::Size);
        (is_made_up(name) && is_named).then(|| LostSize { axis, name: name.to_string(), size: dim.clone() })
    };
    declared_axes(facts, port).filter_map(of_axis).collect()
}

/// Whether PyTorch's tracing exporter generated the name: `Reshape12_dim_0`.
fn is_made_up(name: &str) -> bool {
    let Some((value, axis)) = name.rsplit_once("_dim_") else { return false };
    !value.is_empty() && !axis.is_empty() && axis.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_dimension_names_are_recognized() {
        for name in ["Reshape12_dim_0", "x_dim_11"] {
            assert!(is_made_up(name), "{name}");
        }
        for name in ["batch", "hidden_dim", "_dim_0", "x_dim_", "x_dim_a"] {
            assert!(!is_made_up(name), "{name}");
        }
    }
}
