//! What can be known of a model's values without running it.

pub mod eval;
