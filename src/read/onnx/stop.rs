//! Reasons for which a file has no sparse copy.

/// Reason for which a file has no sparse copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The file is not valid protobuf.
    Malformed(&'static str),
    /// The parts other than large tensors exceed the limit, in bytes.
    TooLarge(u64),
    /// The encoding is valid but unusual: the file must be read as a whole.
    Unusual,
    /// A range of the file is unavailable.
    Unavailable,
}
