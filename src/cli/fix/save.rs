//! Writes the fixed model to a file or to memory.

use std::path::Path;

use bytes::Bytes;

use crate::cli::Failure;
use crate::files::{ModelFile, ModelFormat, SaveError, Saving};
use crate::fix::Outcome;

/// Encodes the fixed model in the format of `source`, as consecutive chunks.
pub fn encoded(source: &ModelFile, outcome: &Outcome, saving: &Saving) -> Result<Vec<Bytes>, Failure> {
    if is_as_is(source, outcome, saving, source.form) {
        return Ok(vec![source.bytes.clone()]);
    }
    let pieces = match saving.external {
        true => None,
        false => source.form.encode(&outcome.model).map_err(Failure::new)?,
    };
    pieces.ok_or_else(|| {
        Failure::new("external data cannot be written to standard output; write to a file with -o")
    })
}

/// Returns true if the input bytes are copied as they are.
/// A copy keeps fields that this version does not know.
fn is_as_is(source: &ModelFile, outcome: &Outcome, saving: &Saving, form: ModelFormat) -> bool {
    !outcome.changed && !saving.external && form == source.form
}

/// Writes the fixed model to `target`. No file is replaced before everything is written.
pub fn save(source: &ModelFile, outcome: &Outcome, saving: &Saving, target: &Path) -> Result<(), Failure> {
    let saved = match is_as_is(source, outcome, saving, saving.form_at(target)) {
        true => saving.save_as_is(&source.bytes, &outcome.model, target),
        false => saving.save(&outcome.model, target),
    };
    saved.map_err(|error| match error {
        SaveError::Data(_) => Failure::new(format!("{}: {error}", source.name)),
        _ => Failure::new(error.to_string()),
    })
}
