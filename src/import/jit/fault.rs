//! Reasons why TorchScript code cannot be converted.

use crate::diag::Finding;

/// Reason why the interpretation of TorchScript code ends.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A clause that still lacks its location.
    Plain(String),
    /// The code raises an exception with this message.
    Raised(String),
    /// The shapes of the inputs are not known; the text is an example of the missing options.
    Shapes(String),
    /// Complete findings.
    Found(Vec<Finding>),
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Fault::Plain(why)
    }
}

impl From<&str> for Fault {
    fn from(why: &str) -> Self {
        Fault::Plain(why.to_owned())
    }
}
