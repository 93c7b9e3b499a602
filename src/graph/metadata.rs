//! Metadata of models, graphs, nodes and values.

use std::sync::Arc;

/// Key-value pairs in file order (`metadata_props` and similar fields).
pub type Metadata = Vec<(Arc<str>, Arc<str>)>;
