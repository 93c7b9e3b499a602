//! Models as files: opened in whichever form they are, and written so that no half of one is ever there.

mod form;
mod open;
mod save;

pub use form::Form;
pub use open::{ModelFile, OpenError, open};
pub use save::{SaveError, Saving, save};
