//! Releases of PyTorch.

use std::fmt;

/// A release of PyTorch: major and minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u32, pub u32);

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl Release {
    /// The newest release in the table of signatures.
    pub const NEWEST: Release = Release(2, 15);

    /// Parses `2.5` and the start of `2.5.1+cu118`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(['.', '+']);
        Some(Release(parts.next()?.trim().parse().ok()?, parts.next()?.trim().parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_parsed() {
        assert_eq!(Release::parse("2.5.1+cu118"), Some(Release(2, 5)));
        assert_eq!(Release::parse("two"), None);
        assert!(Release(2, 15) > Release(2, 9));
    }
}
