//! SPC013, SPC015 and SPC023: gives values in scope together different names, or rejects the model.

use crate::analyses::locate::Locator;
use crate::diag::rule_ids::{DUPLICATE_INITIALIZER, DUPLICATE_VALUE, SHADOWED_VALUE};
use crate::diag::{Finding, Level, Place};
use crate::edit::{Change, Duplicates, Editor, Site, duplicate_names};
use crate::fix::pass::{Need, Pass};
use crate::graph::uses::Uses;
use crate::graph::{Model, ValueId};
use crate::source::SourceFiles;

/// The pass.
pub const PASS: Pass = Pass {
    id: "duplicate-names",
    summary: "Renames values that are defined twice.",
    codes: &[DUPLICATE_VALUE, SHADOWED_VALUE, DUPLICATE_INITIALIZER],
    phases: &[],
    need: Need::Required,
    is_enabled: |_| true,
    run: |editor, _| rename(editor),
};

/// Renames definitions until every name in scope is unique.
/// Later passes rely on unique names: only the node order tells duplicates apart, and a rewrite may change it.
///
/// # Errors
/// One finding for each name whose uses are ambiguous.
fn rename(editor: &mut Editor) -> Result<bool, Vec<Finding>> {
    let groups = duplicate_names(editor.model());
    let model = editor.model();
    let refused = groups.iter().filter_map(|group| Some(refusal(model, group, group.obstacle(model)?)));
    let refused: Vec<Finding> = refused.collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    let is_any = !groups.is_empty();
    for group in groups {
        let kept = group.kept(editor.model());
        let renamed: Vec<ValueId> =
            group.values.iter().copied().filter(|&value| Some(value) != kept).collect();
        let rule = group.rule(editor.model());
        let change = |&value: &ValueId| Change::new(rule, Site::Value(value), "renamed");
        let changes = renamed.iter().map(change).collect();
        editor.change_all(changes, |model, names| {
            for &value in &renamed {
                model.values[value].name = names.fresh(&group.name, None);
            }
            // A declaration of a duplicate name is ambiguous, so it is removed.
            for &graph in &group.graphs {
                model.graphs[graph].value_info.retain(|port| !group.values.contains(&port.value));
            }
            true
        });
    }
    Ok(is_any)
}

/// Returns a finding about a name whose uses are ambiguous.
fn refusal(model: &Model, group: &Duplicates, why: &str) -> Finding {
    let (uses, sources) = (Uses::new(model), SourceFiles::default());
    let places = Locator::new(model, &uses, &sources);
    let place = |index: usize| group.values.get(index).map_or(Place::File, |&value| places.value(value));
    let message = format!("`{}` is defined {} times, and {why}", group.name, group.values.len());
    let finding = group.rule(model).at(Level::Error).finding(message, place(1));
    finding
        .label("the second definition")
        .related(place(0), "the first definition")
        .help("give each value a unique name: uses of the shared name are ambiguous")
}
