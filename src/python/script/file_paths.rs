//! Texts of paths, as `pathlib` and `os.path` compute them.

use super::value::Value;

/// Returns the path that `pathlib.Path(*parts)` has; `None` for a root with two slashes.
///
/// An absolute part replaces the parts before it. Parts that are `.` vanish.
pub fn plain_path(parts: &[&str]) -> Option<String> {
    let whole = os_joined(parts);
    if whole.starts_with("//") {
        return None;
    }
    let names: Vec<&str> = whole.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    Some(match (whole.starts_with('/'), names.is_empty()) {
        (true, _) => format!("/{}", names.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => names.join("/"),
    })
}

/// Returns `os.path.join(*parts)`.
pub fn os_joined(parts: &[&str]) -> String {
    let mut whole = String::new();
    for (at, part) in parts.iter().enumerate() {
        if part.starts_with('/') {
            whole.clear();
        } else if at > 0 && !whole.is_empty() && !whole.ends_with('/') {
            whole.push('/');
        }
        whole.push_str(part);
    }
    whole
}

/// Returns a path with another suffix or name; `None` if Python refuses, or if releases differ.
pub fn renamed(path: &str, method: &str, new: &str) -> Option<String> {
    let path = plain_path(&[path])?;
    let (folder, name) =
        path.rsplit_once('/').map_or(("", &*path), |(_, name)| (&path[..path.len() - name.len()], name));
    let (stem, _) = split_suffix(name)?;
    let is_name = !new.is_empty() && !new.contains('/') && new != ".";
    match method {
        "with_name" if is_name => Some(format!("{folder}{new}")),
        "with_suffix" if new.is_empty() => Some(format!("{folder}{stem}")),
        "with_suffix" if is_name && new.starts_with('.') => Some(format!("{folder}{stem}{new}")),
        _ => None,
    }
}

/// Returns a part of a path, such as its `suffix`, or the result of a function of `os.path`.
pub fn path_part<'t>(text: &str, part: &str) -> Value<'t> {
    if part.starts_with("os.path.") {
        let head = text.rfind('/').map_or(0, |at| at + 1);
        let (folder, name) = text.split_at(head);
        return match part {
            "os.path.basename" => Value::str(name),
            "os.path.dirname" if folder.chars().all(|letter| letter == '/') => Value::str(folder),
            "os.path.dirname" => Value::str(folder.trim_end_matches('/')),
            _ => {
                let dots = name.len() - name.trim_start_matches('.').len();
                let dot = name[dots..].rfind('.').map_or(text.len(), |at| head + dots + at);
                Value::tuple(vec![Value::str(&text[..dot]), Value::str(&text[dot..])])
            }
        };
    }
    let Some(path) = plain_path(&[text]) else { return Value::Unknown };
    let name = path.rsplit('/').next().unwrap_or(&path);
    match part {
        "parent" => Value::str(match path.rfind('/') {
            _ if path == "." => ".",
            None => ".",
            Some(0) => "/",
            Some(at) => &path[..at],
        }),
        "name" if path == "." => Value::str(""),
        "name" => Value::str(name),
        _ => match (split_suffix(name), part) {
            (Some((stem, _)), "stem") => Value::str(stem),
            (Some((_, suffix)), "suffix") => Value::str(suffix),
            _ => Value::Unknown,
        },
    }
}

/// Splits the name of a file before its suffix; `None` for names of which releases of Python differ.
fn split_suffix(name: &str) -> Option<(&str, &str)> {
    if name.is_empty() || name == "." || name.ends_with('.') || name.starts_with("..") {
        return None;
    }
    let dot = name.rfind('.').filter(|at| *at > 0).unwrap_or(name.len());
    Some(name.split_at(dot))
}

#[cfg(test)]
mod tests {
    use super::{os_joined, path_part, plain_path, renamed};
    use crate::python::script::value::Value;

    #[test]
    fn paths_are_those_of_pathlib() {
        assert_eq!(plain_path(&["./a", "b/"]).as_deref(), Some("a/b"));
        assert_eq!(plain_path(&["a", "/b", "c"]).as_deref(), Some("/b/c"));
        assert_eq!(plain_path(&["."]).as_deref(), Some("."));
        assert_eq!(plain_path(&["a//../b"]).as_deref(), Some("a/../b"));
        assert_eq!(renamed("./m.tar.gz", "with_suffix", ".onnx").as_deref(), Some("m.tar.onnx"));
        assert_eq!(renamed("out/.env", "with_suffix", ".txt").as_deref(), Some("out/.env.txt"));
        assert_eq!(path_part("/a", "parent"), Value::str("/"));
        assert_eq!(path_part("a", "parent"), Value::str("."));
        assert_eq!(path_part(".env", "suffix"), Value::str(""));
    }

    #[test]
    fn joined_paths_are_those_of_os_path() {
        assert_eq!(os_joined(&["a/", "b"]), "a/b");
        assert_eq!(os_joined(&["a", "/b"]), "/b");
        assert_eq!(os_joined(&["", "b"]), "b");
        assert_eq!(os_joined(&["a", ""]), "a/");
        assert_eq!(path_part("/a", "os.path.dirname"), Value::str("/"));
        assert_eq!(path_part("a/b/", "os.path.dirname"), Value::str("a/b"));
        assert_eq!(
            path_part(".a/..b", "os.path.splitext"),
            Value::tuple(vec![Value::str(".a/..b"), Value::str("")])
        );
    }
}
