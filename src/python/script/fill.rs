//! Constants of `torch.full`.

/// The constant that filled a memory.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    pub value: f64,
    /// Number of elements of the memory.
    pub count: i64,
    /// Lower bound of the number of elements that no write changed.
    pub left: i64,
}
