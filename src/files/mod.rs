//! Model files: opening in any supported format, and atomic saving.

mod format;
mod open;
mod save;

pub use format::ModelFormat;
pub use open::{ModelFile, OpenError, open};
pub use save::{SaveError, Saving, save};
