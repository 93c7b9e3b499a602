//! Removes declared types and shapes that inference finds without them.

use crate::diag::rule_ids::DECLARED_TYPE;
use crate::edit::{Change, Editor, Site};
use crate::extract::Objective;
use crate::fix::context::Context;
use crate::fix::pass::{Need, Pass};
use crate::graph::{GraphId, Model, Port, Type, TypeKind};
use crate::infer::{self, Fact};

/// The pass.
pub const PASS: Pass = Pass {
    id: "withdraw-facts",
    summary: "Removes declared types and shapes that inference finds without them.",
    codes: &[DECLARED_TYPE],
    phases: &[],
    need: Need::Optional,
    is_enabled,
    run: |editor, _| Ok(withdraw(editor)),
};

fn is_enabled(cx: &Context) -> bool {
    cx.options.optimize && !cx.options.infer_shapes && cx.options.pricing.objective == Objective::Size
}

/// Removes each `value_info` entry that holds only a type that follows from nodes and model inputs.
fn withdraw(editor: &mut Editor) -> bool {
    let model = editor.model();
    let facts = infer::infer(model, infer::Options { use_declared: false });
    let is_redundant = |port: &Port| {
        let info = &port.info;
        let is_bare = info.doc.is_none() && info.metadata.is_empty();
        is_bare && info.ty.as_ref().is_none_or(|ty| is_implied(ty, &facts[port.value]))
    };
    let has_redundant = |graph: &GraphId| model.graphs[*graph].value_info.iter().any(is_redundant);
    let of_model = model.graphs.ids().filter(|&graph| model.function_of(graph).is_none());
    let graphs: Vec<GraphId> = of_model.filter(has_redundant).collect();
    if graphs.is_empty() {
        return false;
    }
    let change = Change::new(DECLARED_TYPE, Site::Model, "inferable types and shapes removed");
    editor.declare(change, |model: &mut Model| {
        for graph in graphs {
            model.graphs[graph].value_info.retain(|port| !is_redundant(port));
        }
        true
    });
    true
}

/// Returns true if a fact implies a declared tensor type.
/// The name of a size is implied if the size is inferred.
fn is_implied(ty: &Type, fact: &Fact) -> bool {
    let TypeKind::Tensor { shape, .. } = &ty.kind else { return false };
    let (declared, Some(known)) = (infer::declared_numbers(ty), fact.as_tensor()) else { return false };
    let is_elem = known.elem.is_some() && known.elem == declared.elem();
    let Some(dims) = shape else { return is_elem && ty.denotation.is_none() };
    let Some(sizes) = known.shape.dims().filter(|sizes| sizes.len() == dims.len()) else { return false };
    let mut sizes = sizes.iter().zip(declared.dims().unwrap_or_default());
    let is_size = |(known, declared): (&infer::Size, &infer::Size)| match declared {
        Some(_) => known == declared,
        None => known.is_some(),
    };
    let is_denoted = ty.denotation.is_some() || dims.iter().any(|dim| dim.denotation.is_some());
    is_elem && !is_denoted && sizes.all(is_size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::CostModel;
    use crate::fix::passes::testing::model;
    use crate::fix::{Options, fix};
    use crate::rules::registry::RuleSet;

    /// Returns the number of declared intermediate values after a fix for an objective.
    fn declared(graph: &str, objective: Objective) -> usize {
        let pricing = CostModel { objective, ..CostModel::default() };
        let options = Options { pricing, ..Options::default() };
        let fixed = fix(model(graph), &options, &RuleSet::patterns()).model;
        fixed.graphs[fixed.main].value_info.len()
    }

    #[test]
    fn only_size_removes_inferable_types() {
        let graph = "g (float[N,4] x) => (float[N,4] y) <float[N,4] r> { r = Relu (x)  y = Sin (r) }";
        assert_eq!(declared(graph, Objective::Nodes), 1);
        assert_eq!(declared(graph, Objective::Size), 0);
    }

    #[test]
    fn types_that_inference_does_not_find_are_kept() {
        let unknown =
            "g (float[N,4] x) => (float[N,4] y) <float[N,4] r> { r = acme.Unknown (x)  y = Sin (r) }";
        assert_eq!(declared(unknown, Objective::Size), 1);
        let more = "g (float[N,1] x, int64[2] s) => (float[A,B] y) <float[N,8] r> { r = Expand (x, s)  y = Sin (r) }";
        assert_eq!(declared(more, Objective::Size), 1, "the nodes do not imply the size 8");
    }
}
