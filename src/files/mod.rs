//! Models as files: opened in whichever form they are, and written so that no half of one is ever there.

mod format;
mod open;
mod save;

pub use format::ModelFormat;
pub use open::{ModelFile, OpenError, open};
pub use save::{SaveError, Saving, save};
