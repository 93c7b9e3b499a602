//! Imports the domains of nodes that rewrites added.

use std::collections::BTreeSet;

use crate::diag::rule_ids::RELABELLED_VERSION;
use crate::edit::{Change, Editor, Site};
use crate::extract::Target;
use crate::fix::pass::{Need, Pass};
use crate::fix::target::used_domains;
use crate::graph::{OpsetImport, normal_domain};
use crate::schema;

/// The pass.
pub const PASS: Pass = Pass {
    id: "import-domains",
    summary: "Imports the domains of nodes that rewrites added.",
    codes: &[RELABELLED_VERSION],
    phases: &[],
    need: Need::Required,
    is_enabled: |cx| cx.round.as_ref().is_some_and(|round| round.rewritten.is_changed),
    run: |editor, cx| {
        let before = cx.round.as_ref().map(|round| &round.domains);
        Ok(before.is_some_and(|before| import_domains(editor, before, &mut cx.target)))
    },
};

/// Imports the domains that nodes use but that are not among `before`, in their newest version.
/// A custom domain has no schema, so it is imported in version 1. Returns true if a domain was new.
fn import_domains(editor: &mut Editor, before: &BTreeSet<String>, target: &mut Target) -> bool {
    let is_new = |domain: &String| {
        let is_imported = |import: &OpsetImport| normal_domain(import.domain.as_deref()) == *domain;
        !domain.is_empty() && !before.contains(domain) && !target.imports.iter().any(is_imported)
    };
    let mut new = used_domains(editor.model());
    new.retain(is_new);
    for domain in &new {
        let version = schema::latest(domain).map_or(1, i64::from);
        let import = OpsetImport { domain: Some(domain.as_str().into()), version: Some(version) };
        target.imports.push(import.clone());
        let change = Change::new(RELABELLED_VERSION, Site::Model, format!("`{domain}` imported"));
        editor.change(change, |model, _| {
            model.opsets.push(import);
            true
        });
    }
    !new.is_empty()
}
