//! Conversion between paths and URIs.

use std::path::{Path, PathBuf};

use lsp_types::Uri;
use url::Url;

/// Returns the path of a URI; `None` if the URI is not that of a file, as for an unsaved text.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    Url::parse(uri.as_str()).ok()?.to_file_path().ok()
}

/// Returns the URI of a path; `None` for a relative path.
pub fn uri(path: &Path) -> Option<Uri> {
    Url::from_file_path(path).ok()?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_and_uris_are_converted_both_ways() {
        let odd = Path::new("/a b/ä%.py");
        let named = uri(odd).expect("an absolute path");
        assert_eq!(named.as_str(), "file:///a%20b/%C3%A4%25.py");
        assert_eq!(path(&named).as_deref(), Some(odd));
        assert_eq!(path(&"untitled:1".parse().expect("a name")), None);
    }
}
