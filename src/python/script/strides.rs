//! Strides of tensors.

/// Strides of a tensor, with the memory and the sizes for which they hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pub memory: u32,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
}
