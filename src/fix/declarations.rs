//! EXP014 and EXP015: what the exporter declared of the main graph that can be said better.

use std::sync::Arc;

use super::options::Options;
use super::report::{Change, Report, Safety};
use crate::diag::RuleId;
use crate::diag::known::{INPUT_NAMED_WEIGHTS, LOST_SYMBOL};
use crate::graph::dim::Dim;
use crate::graph::{DeclaredDim, Def, Model, Port, TypeKind, ValueId};
use crate::infer::{self, Facts};
use crate::lint::builtin::lost_sizes;

/// The first IR version in which an initializer need not be an input too.
const FREE_INITIALIZERS: i64 = 4;

/// Does both, as far as `options` allow; whether anything changed.
pub fn mend(model: &mut Model, options: &Options, report: &mut Report) -> bool {
    let may = |rule: RuleId| options.selection.contains(rule.code);
    let named = may(LOST_SYMBOL) && name_sizes(model, report);
    let moved = options.unsafe_fixes && may(INPUT_NAMED_WEIGHTS) && withdraw_weights(model, report);
    named || moved
}

/// Gives sizes whose names the exporter made up what follows from those of the inputs.
fn name_sizes(model: &mut Model, report: &mut Report) -> bool {
    let main = &model.graphs[model.main];
    if !main.outputs.iter().chain(&main.value_info).any(has_names) {
        return false;
    }
    let facts = infer::infer(model, infer::Options::default());
    let main = model.main;
    let mut ports = std::mem::take(&mut model.graphs[main].outputs);
    let mut inner = std::mem::take(&mut model.graphs[main].value_info);
    let mut changed = false;
    for port in ports.iter_mut().chain(&mut inner) {
        if name_axes(port, &facts) {
            report.add(change(model, LOST_SYMBOL, Safety::Exact, port.value, "named what the exporter lost"));
            changed = true;
        }
    }
    (model.graphs[main].outputs, model.graphs[main].value_info) = (ports, inner);
    changed
}

fn has_names(port: &Port) -> bool {
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_ref().map(|ty| &ty.kind) else {
        return false;
    };
    dims.iter().any(|dim| matches!(dim.dim, DeclaredDim::Param(_)))
}

fn name_axes(port: &mut Port, facts: &Facts) -> bool {
    let lost = lost_sizes(facts, port);
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = port.info.ty.as_mut().map(|ty| &mut ty.kind)
    else {
        return false;
    };
    for lost in &lost {
        dims[lost.axis].dim = declared(&lost.size);
    }
    !lost.is_empty()
}

fn declared(size: &Dim) -> DeclaredDim {
    match size.as_const() {
        Some(number) => DeclaredDim::Value(number),
        None => DeclaredDim::Param(Arc::from(size.to_string())),
    }
}

/// Makes plain initializers of the inputs that have a default.
fn withdraw_weights(model: &mut Model, report: &mut Report) -> bool {
    if model.ir_version.is_none_or(|version| version < FREE_INITIALIZERS) {
        return false;
    }
    let main = model.main;
    let is_weight = |port: &Port| model.values[port.value].initial.is_some();
    let weights: Vec<ValueId> =
        model.graphs[main].inputs.iter().filter(|port| is_weight(port)).map(|port| port.value).collect();
    for &weight in &weights {
        model.values[weight].def = Def::Initializer;
        report.add(change(model, INPUT_NAMED_WEIGHTS, Safety::Unsafe, weight, "took from the inputs"));
    }
    model.graphs[main].inputs.retain(|port| !weights.contains(&port.value));
    for (index, port) in (0..).zip(&model.graphs[main].inputs) {
        model.values[port.value].def = Def::Input(index);
    }
    !weights.is_empty()
}

fn change(model: &Model, rule: RuleId, safety: Safety, value: ValueId, done: &str) -> Change {
    Change {
        code: rule.code.to_owned(),
        rule: rule.name.to_owned(),
        safety,
        graph: model.graphs[model.main].name.as_deref().unwrap_or("main").to_owned(),
        node: model.values[value].name.to_string(),
        summary: done.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Selection;
    use crate::write::text::write;

    fn model(text: &str) -> Model {
        let text = format!("<ir_version: 8, opset_import: [\"\" : 17]> {text}");
        let (model, findings) = crate::read::text::read(&text);
        assert_eq!(findings, [], "{text}");
        model.expect("a model")
    }

    #[track_caller]
    fn check(before: &str, after: &str) {
        let mut mended = model(before);
        let options = Options { selection: Selection::all(), unsafe_fixes: true, ..Options::default() };
        assert_eq!(mend(&mut mended, &options, &mut Report::default()), before != after);
        assert_eq!(write(&mended), write(&model(after)), "{before}");
    }

    #[test]
    fn sizes_that_follow_from_the_inputs_are_named() {
        let reshape = "<int64[2] s = {-1, 12}> { y = Reshape (x, s) }";
        let with = |y: &str| format!("g (float[batch,3,4] x) => (float[{y}] y) {reshape}");
        check(&with("Reshape_3_dim_0,12"), &with("batch,12"));
        check(&with("Reshape_3_dim_0,Reshape_3_dim_1"), &with("batch,12"));
        check(&with("rows,12"), &with("rows,12"));
        let inner = |r: &str| {
            format!("g (float[N,4] x) => (float[N,4] y) <float[{r}] r> {{ r = Relu (x)  y = Neg (r) }}")
        };
        check(&inner("Relu_1_dim_0,4"), &inner("N,4"));
        let unknown = "g (float[N] x) => (int64[1,NonZero_4_dim_1] y) { y = NonZero (x) }";
        check(unknown, unknown);
    }

    #[test]
    fn weights_leave_the_inputs() {
        let with = |inputs: &str| {
            format!(
                "g ({inputs}float[N,2] x) => (float[N,2] y) <float[2,2] w = {{1, 0, 0, 1}}> {{ y = MatMul (x, w) }}"
            )
        };
        check(&with("float[2,2] w, "), &with(""));
        check(&with(""), &with(""));
    }
}
