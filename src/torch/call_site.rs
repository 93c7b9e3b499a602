//! Search for the line in a module's `forward` that calls one of its submodules.
//!
//! A trace records only the innermost Python line, which for a layer is inside PyTorch. The trace also
//! records the class of the outermost module and the path to the layer. If the class source is readable, the
//! calling line can be found.

use std::path::Path;
use std::sync::Arc;

use crate::diag::SourcePlace;
use crate::source::{SourceFiles, is_library};

use super::trace::Trace;

/// Number of folders above the linted file in which to search for the class source.
const MAX_FOLDERS_UP: usize = 3;

/// Returns the line that uses the first submodule of a path: `self.net` for `/net/net.2`.
///
/// `linted` is the file that the trace was read from; the source may be near it.
pub fn call_site(
    trace: &Trace,
    module: &str,
    sources: &SourceFiles,
    linted: Option<&Path>,
) -> Option<SourcePlace> {
    let class = trace.class.as_deref()?;
    let attribute =
        module.trim_start_matches('/').split(['/', '.']).next().filter(|name| !name.is_empty())?;
    let (package, class) = class.rsplit_once('.')?;
    if package.starts_with("torch.") || package == "torch" {
        return None;
    }
    let (file, text) = source_of(trace, package, sources, linted)?;
    let line = line_of_call(&text, class, attribute)?;
    Some(sources.place(&file, line, 0, Some("forward"), text.lines().nth(line as usize - 1)))
}

/// Returns the file and the text of a Python module.
/// Searches the files that the trace records, then the source roots, then the folders of the linted file.
fn source_of(
    trace: &Trace,
    package: &str,
    sources: &SourceFiles,
    linted: Option<&Path>,
) -> Option<(Arc<str>, Arc<str>)> {
    let path = format!("{}.py", package.replace('.', "/"));
    let recorded = trace.nodes.iter().filter_map(|node| Some(&node.source.as_ref()?.file));
    let mut own = recorded.filter(|file| !is_library(file) && file.replace('\\', "/").ends_with(&path));
    if let Some(found) = own.find_map(|file| Some((file.clone(), sources.text(file)?))) {
        return Some(found);
    }
    let named = sources.text(&path).map(|text| (Arc::from(&*path), text));
    named.or_else(|| {
        let folders = linted?.ancestors().skip(1).take(MAX_FOLDERS_UP);
        folders.map(|folder| folder.join(&path)).find_map(|file| {
            let file: Arc<str> = Arc::from(file.to_str()?);
            Some((file.clone(), sources.text(&file)?))
        })
    })
}

/// Returns the 1-based line in the class's `forward` that first uses `self.attribute`.
fn line_of_call(text: &str, class: &str, attribute: &str) -> Option<u32> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let begins = |line: &str, keyword: &str, name: &str| {
        let rest = line.trim_start().strip_prefix(keyword).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with(['(', ':', ' ']))
    };
    let body_end = |start: usize| {
        let after = lines.iter().enumerate().skip(start + 1);
        after
            .filter(|(_, line)| !is_blank(line))
            .find(|(_, line)| indent(line) <= indent(lines[start]))
            .map_or(lines.len(), |(at, _)| at)
    };
    let class_at = lines.iter().position(|line| begins(line, "class ", class))?;
    let class_end = body_end(class_at);
    let forward_at = (class_at..class_end).find(|&at| begins(lines[at], "def ", "forward"))?;
    let call = format!("self.{attribute}");
    let calls = |line: &str| {
        line.match_indices(&call)
            .any(|(at, _)| line[at + call.len()..].starts_with(['(', '[', '.', ')', ',', ':']))
    };
    let at = (forward_at + 1..body_end(forward_at)).find(|&at| !is_blank(lines[at]) && calls(lines[at]))?;
    u32::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::line_of_call;

    const SOURCE: &str = "class A(nn.Module):\n    def forward(self, x):\n        return self.net(x)\n\nclass Net(nn.Module):\n    \
        def __init__(self):\n        self.net = nn.Linear(2, 2)\n\n    def forward(self, x):\n        # self.net(x)\n        \
        x = self.network(x)\n\n        for layer in self.layers:\n            x = layer(x)\n        return self.net(x)\n\n    \
        def other(self):\n        self.late(1)\n";

    #[test]
    fn call_of_submodule_is_found_in_forward_of_its_class() {
        let line = |class, attribute| line_of_call(SOURCE, class, attribute);
        assert_eq!(line("A", "net"), Some(3));
        assert_eq!(line("Net", "net"), Some(15));
        assert_eq!(line("Net", "layers"), Some(13));
        assert_eq!(line("Net", "late"), None);
        assert_eq!(line("Ne", "net"), None);
    }
}
