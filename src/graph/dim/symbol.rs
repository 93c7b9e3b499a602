//! Symbols: the unknowns of symbolic integers.

use std::fmt;
use std::sync::Arc;

/// A named unknown integer, identified by name and kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol {
    name: Arc<str>,
    kind: SymbolKind,
}

/// Domain of a symbol's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// Size of an axis: at least 0.
    Size,
    /// Element of an integer tensor: any value.
    Integer,
}

impl Symbol {
    /// Creates a symbol for the size of an axis, which is never negative.
    pub fn size(name: &str) -> Self {
        Symbol { name: name.into(), kind: SymbolKind::Size }
    }

    /// Creates a symbol for an element of an integer tensor, which may be negative.
    /// The text form does not show the kind, so [`super::Dim::parse`] never returns a symbol
    /// of the kind `Integer`.
    pub fn integer(name: &str) -> Self {
        Symbol { name: name.into(), kind: SymbolKind::Integer }
    }

    /// Returns the name as written in the model; any text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind, which determines the possible values.
    pub fn kind(&self) -> SymbolKind {
        self.kind
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
