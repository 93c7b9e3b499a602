//! The unknowns of a symbolic integer.

use std::fmt;
use std::sync::Arc;

/// A named unknown integer. Symbols of the same name and kind are the same unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol {
    name: Arc<str>,
    kind: SymbolKind,
}

/// What may be taken for granted about a symbol's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// The size of an axis: at least 0.
    Size,
    /// An element of an integer tensor: any value.
    Integer,
}

impl Symbol {
    /// The size of an axis: never negative.
    pub fn size(name: &str) -> Self {
        Symbol { name: name.into(), kind: SymbolKind::Size }
    }

    /// An element of an integer tensor: may be negative. Text does not show the kind, so
    /// [`super::Dim::parse`] never gives such a symbol.
    pub fn integer(name: &str) -> Self {
        Symbol { name: name.into(), kind: SymbolKind::Integer }
    }

    /// The name, as models write it; any text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its value may be.
    pub fn kind(&self) -> SymbolKind {
        self.kind
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
