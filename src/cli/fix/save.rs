//! Writes the result: to a file, or to standard output.

use std::path::Path;

use crate::cli::{Failure, output};
use crate::files::{ModelFile, SaveError, Saving};
use crate::fix::Outcome;

/// Writes what became of `source` to `target`; `-` is standard output. Nothing is replaced before everything is
/// written.
pub fn save(source: &ModelFile, outcome: &Outcome, saving: &Saving, target: &Path) -> Result<(), Failure> {
    let form = saving.form_at(target);
    // Then to the byte, with whatever this version does not know of.
    let as_is = !outcome.changed && !saving.external && form == source.form;
    if target == Path::new("-") {
        let pieces = match as_is {
            true => Some(vec![source.bytes.clone()]),
            false if saving.external => None,
            false => form.encode(&outcome.model).map_err(Failure::new)?,
        };
        let no_file = || Failure::new("external data need a file to stand beside; name one with -o");
        return pieces.ok_or_else(no_file)?.iter().try_for_each(|piece| output::print_bytes(piece));
    }
    let saved = match as_is {
        true => saving.save_as_is(&source.bytes, &outcome.model, target),
        false => saving.save(&outcome.model, target),
    };
    saved.map_err(|error| match error {
        SaveError::Data(_) => Failure::new(format!("{}: {error}", source.name)),
        _ => Failure::new(error.to_string()),
    })
}
