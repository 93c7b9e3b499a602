//! Merges equal weights, both stored and constant-folded ones.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::rule_ids::REPEATED_WEIGHT;
use crate::edit::{Change, Editor, Item, Patch, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{Model, Tensor, ValueId};
use crate::infer::{Content, MAX_ELEMENTS};

/// The pass.
pub const PASS: Pass = Pass {
    id: "dedup-initializers",
    summary: "Merges equal weights.",
    codes: &[REPEATED_WEIGHT],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.optimize,
    run: |editor, _| Ok(share(editor)),
};

/// Redirects the uses of every large weight of the main graph to the first equal one.
/// Returns true if uses were redirected. The e-graph merges small constants. Only weights of equal type and
/// shape are read and compared.
fn share(editor: &mut Editor) -> bool {
    let model = editor.model();
    let mut patch = Patch::new(model.main);
    for alike in of_one_shape(model) {
        let mut first: BTreeMap<Content, ValueId> = BTreeMap::new();
        for (value, tensor) in alike {
            let Some(content) = Content::of(tensor) else { continue };
            match first.get(&content) {
                Some(&kept) => {
                    let what = "merged with an equal weight";
                    patch.redirects.push((value, Item::Old(kept)));
                    patch.changes.push(Change::new(REPEATED_WEIGHT, Site::Value(value), what));
                }
                None => {
                    first.insert(content, value);
                }
            }
        }
    }
    editor.apply(vec![patch]) > 0
}

/// Groups the large initializers of the main graph by type and shape.
/// Graph outputs and groups of one are left out.
fn of_one_shape(model: &Model) -> impl Iterator<Item = Vec<(ValueId, &Tensor)>> {
    let main = &model.graphs[model.main];
    let outputs: FxHashSet<ValueId> = main.outputs.iter().map(|port| port.value).collect();
    let mut shapes: FxHashMap<_, Vec<(ValueId, &Tensor)>> = FxHashMap::default();
    let mut order = Vec::new();
    for &value in &main.initializers {
        let Some(tensor) = model.constant(value).filter(|_| !outputs.contains(&value)) else { continue };
        if tensor.len().is_some_and(|len| len > MAX_ELEMENTS) {
            let shape = (tensor.data_type, &tensor.dims);
            let alike = shapes.entry(shape).or_default();
            if alike.is_empty() {
                order.push(shape);
            }
            alike.push((value, tensor));
        }
    }
    order.into_iter().filter_map(move |shape| shapes.remove(&shape)).filter(|alike| alike.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Returns the number of readers of each initializer that is still read.
    fn readers(text: &str) -> Vec<usize> {
        let text = format!("<ir_version: 10, opset_import: [\"\" : 21]> {text}");
        let (model, findings) = read::text::read(&text);
        assert!(findings.is_empty(), "{findings:?}");
        let mut editor = Editor::new(model.expect("a model"));
        share(&mut editor);
        let model = editor.model();
        let main = &model.graphs[model.main];
        let reads = |value: ValueId| {
            main.nodes.iter().filter(|&&node| model.nodes[node].inputs.contains(&Some(value))).count()
        };
        main.initializers.iter().map(|&value| reads(value)).filter(|&reads| reads > 0).collect()
    }

    /// Returns the text of a tensor with `times` elements, all equal to `number`.
    fn all(number: &str, times: usize) -> String {
        vec![number; times].join(",")
    }

    #[test]
    fn equal_weights_of_equal_shape_are_merged() {
        let graph = |v: &str, shape: &str| {
            format!(
                "g (float[2,2,1024] x) => (float[2,2,1024] y, float[2,2,1024] z)
                 <float[2,1024] w = {{{}}}, float[{shape}] v = {{{}}}> {{ y = Add (x, w)  z = Mul (x, v) }}",
                all("2", 2048),
                all(v, 2048)
            )
        };
        assert_eq!(readers(&graph("2", "2,1024")), [2]);
        assert_eq!(readers(&graph("3", "2,1024")), [1, 1]);
        assert_eq!(readers(&graph("2", "2,1,1024")), [1, 1]);
    }

    #[test]
    fn an_input_with_a_default_is_not_merged() {
        let graph = format!(
            "g (float[2048] x, float[2048] v) => (float[2048] y, float[2048] z)
             <float[2048] w = {{{0}}}, float[2048] v = {{{0}}}> {{ y = Add (x, w)  z = Mul (x, v) }}",
            all("2", 2048)
        );
        assert_eq!(readers(&graph), [1, 1]);
    }
}
