//! Scope and source line printed after a node.

use std::sync::Arc;

use crate::diag::SourcePlace;

/// Returns the module path of a scope; the outermost module has no name.
///
/// The path is `/net/net.2` for each of `__module.net/__module.net.2` (trace),
/// `Net::/Sequential::net/Dropout::net.2` (exporter) and `Net/Sequential[net]/Dropout[net.2]` (releases
/// before 1.8).
pub fn module_path(scope: &str) -> Arc<str> {
    let mut path = String::new();
    for part in scope.split('/') {
        let name = if let Some(name) = part.strip_prefix("__module.") {
            name
        } else if let Some((_, name)) = part.rsplit_once("::") {
            name
        } else if let Some((_, name)) = part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            name
        } else {
            ""
        };
        if !name.is_empty() {
            path.push('/');
            path.push_str(name);
        }
    }
    Arc::from(path)
}

/// Returns the class of the outermost module, which starts each scope of the exporter: `net.Net::/…`.
pub fn root_class(scope: &str) -> Option<Arc<str>> {
    let (class, name) = scope.split('/').next()?.split_once("::")?;
    (name.is_empty() && class.contains('.')).then(|| Arc::from(class))
}

/// Parses a source position such as `/app/net.py:31:0`.
///
/// The text has 0-based columns; the result has 1-based columns. Traces print 0, which means an unknown column.
pub fn source(comment: &str) -> Option<SourcePlace> {
    let (rest, column) = comment.trim().rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let column: u32 = column.parse().ok()?;
    let line = line.parse().ok()?;
    (!file.is_empty()).then(|| SourcePlace {
        file: Arc::from(file),
        line,
        column: if column == 0 { 0 } else { column.saturating_add(1) },
        width: 0,
        code: None,
        function: None,
        cell: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_all_releases_are_read() {
        for (scope, path) in [
            ("__module.net/__module.net.2", "/net/net.2"),
            ("pitfalls.Net::/torch.nn.Sequential::net/torch.nn.modules.dropout.Dropout::net.2", "/net/net.2"),
            ("Net/Sequential[net]/Dropout[net.2]", "/net/net.2"),
            ("pitfalls.Net::", ""),
            ("__module", ""),
            ("", ""),
        ] {
            assert_eq!(&*module_path(scope), path, "{scope}");
        }
    }

    #[test]
    fn source_positions_are_read() {
        let seen = |text| source(text).map(|place| (place.file.to_string(), place.line, place.column));
        assert_eq!(seen(" /app/net.py:31:0"), Some(("/app/net.py".into(), 31, 0)));
        assert_eq!(seen(r"C:\app\net.py:31:8"), Some((r"C:\app\net.py".into(), 31, 9)));
        assert_eq!(seen("net.py:x:0"), None);
        assert_eq!(seen("net.py"), None);
    }
}
