//! EXP015: removes weights from the inputs of the model.

use indexmap::IndexSet;

use crate::analyses::detectors::input_weights;
use crate::diag::rule_ids::INPUT_NAMED_WEIGHTS;
use crate::edit::{By, Change, Editor, Safety, Site};
use crate::fix::pass::{Need, Pass};
use crate::graph::{Def, ValueId};

/// The pass.
pub const PASS: Pass = Pass {
    id: "withdraw-weights",
    summary: "Removes weights from the inputs, so that callers cannot override them.",
    codes: &[INPUT_NAMED_WEIGHTS],
    phases: &[],
    need: Need::Optional,
    is_enabled: |cx| cx.options.unsafe_fixes,
    run: |editor, _| Ok(withdraw(editor)),
};

/// Turns inputs that have a default into plain initializers, which other passes treat as constants.
/// Returns true if an input was removed.
fn withdraw(editor: &mut Editor) -> bool {
    let main = editor.model().main;
    let weights: IndexSet<ValueId> = input_weights(editor.model()).into_iter().collect();
    let by = By { safety: Safety::Unsafe, ..By::from(INPUT_NAMED_WEIGHTS) };
    let change =
        |&weight: &ValueId| Change::new(by.clone(), Site::Value(weight), "weight removed from the inputs");
    editor.change_all(weights.iter().map(change).collect(), |model, _| {
        for &weight in &weights {
            model.values[weight].def = Def::Initializer;
        }
        model.graphs[main].inputs.retain(|port| !weights.contains(&port.value));
        for (index, port) in (0..).zip(&model.graphs[main].inputs) {
            model.values[port.value].def = Def::Input(index);
        }
        !weights.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::passes::testing::model;
    use crate::write::text::write;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let mut editor = Editor::new(model(before));
        assert_eq!(withdraw(&mut editor), before != after);
        assert_eq!(write(editor.model()), write(&model(after)), "{before}");
    }

    #[test]
    fn weights_are_removed_from_the_inputs() {
        let with = |inputs: &str| {
            format!(
                "g ({inputs}float[N,2] x) => (float[N,2] y) <float[2,2] w = {{1, 0, 0, 1}}> {{ y = MatMul (x, w) }}"
            )
        };
        check(&with("float[2,2] w, "), &with(""));
        check(&with(""), &with(""));
    }
}
