//! The graph of typed values that everything else works on.

pub mod element;

pub use element::ElemType;
