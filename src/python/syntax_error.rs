//! The first syntax error of a Python source.

use tree_sitter::Node;

use super::syntax::parse;

/// Returns the 1-based line of the first syntax error in a complete source.
///
/// Returns `None` for text that is not a complete Python source: fragments, doctests and templates. Commands of
/// notebooks (`%matplotlib inline`, `!pip install`) are ignored.
pub fn syntax_error(text: &str) -> Option<u32> {
    let line = first_error(text)?;
    // The grammar rejects some continuation lines that are indented less than their statement.
    if is_fragment(text) || first_error(&with_deep_continuations(text)).is_none() {
        return None;
    }
    if !text.lines().any(is_command) {
        return Some(line);
    }
    let plain: Vec<String> = text.lines().map(without_command).collect();
    first_error(&plain.join("\n"))
}

/// Returns true for text that starts within a block, contains doctests, or is a template.
fn is_fragment(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let starts_within = lines.next().is_some_and(|line| line.starts_with([' ', '\t']));
    let is_doctest = |line: &str| line.trim_start().starts_with(">>>");
    starts_within || text.lines().any(is_doctest) || text.contains("{%") || text.contains("{{")
}

/// Returns true for a command of a notebook.
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with(['%', '!', '?'])
}

/// Replaces a command by `pass`, and so keeps the number of lines.
fn without_command(line: &str) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    if is_command(line) { format!("{indent}pass") } else { line.to_owned() }
}

/// Indents all lines within brackets deeply.
fn with_deep_continuations(text: &str) -> String {
    const INDENT: usize = 200;
    let (mut depth, mut quote) = (0usize, None::<&str>);
    let mut deep = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        if depth > 0 && quote.is_none() && !line.trim().is_empty() {
            deep.push_str(&" ".repeat(INDENT));
            rest = line.trim_start();
        }
        deep.push_str(rest);
        while let Some(next) = rest.chars().next() {
            let mut width = next.len_utf8();
            match quote {
                Some(end) if rest.starts_with(end) => (quote, width) = (None, end.len()),
                Some(_) if next == '\\' => {
                    width += rest[width..].chars().next().map_or(0, char::len_utf8);
                }
                Some(end) if next == '\n' && end.len() == 1 => quote = None,
                Some(_) => {}
                None if next == '#' => break,
                None => match ["\"\"\"", "'''", "\"", "'"].into_iter().find(|mark| rest.starts_with(mark)) {
                    Some(mark) => (quote, width) = (Some(mark), mark.len()),
                    None if "([{".contains(next) => depth += 1,
                    None if ")]}".contains(next) => depth = depth.saturating_sub(1),
                    None => {}
                },
            }
            rest = &rest[width..];
        }
    }
    deep
}

fn first_error(text: &str) -> Option<u32> {
    let tree = parse(text)?;
    let mut node = tree.root_node();
    if !node.has_error() {
        return None;
    }
    // Descend to the innermost node that contains the first error.
    while let Some(child) = faulty_child(node).filter(|_| !node.is_error()) {
        node = child;
    }
    u32::try_from(node.start_position().row + 1).ok()
}

fn faulty_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.is_error() || child.is_missing() || child.has_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_error_is_located() {
        assert_eq!(syntax_error("import torch\n\n\ndef f(x:\n    return x\n"), Some(4));
        assert_eq!(syntax_error("x = 1\ny = = 2\n"), Some(2));
        assert_eq!(
            syntax_error("class M(nn.Module):\n    def forward(self, x):\n        return x +\n"),
            Some(3)
        );
        assert_eq!(syntax_error("%matplotlib inline\nx = = 1\n"), Some(2));
    }

    #[test]
    fn valid_python_has_no_error() {
        for text in [
            "",
            "match x:\n    case [1, *_]:\n        pass\n",
            "def f[T](x: T, /, *, y=1) -> T:\n    return f\"{x!r:>{y}}\"\n",
            "type A = int\ntry:\n    pass\nexcept* ValueError:\n    pass\n",
            "def f():\n    def g():\n        (bar.\n    baz)\n        return \"(\"  # (\n",
            "async def f():\n    return [x async for x in y if (z := x)]\n",
        ] {
            assert_eq!(syntax_error(text), None, "{text}");
        }
    }

    #[test]
    fn fragments_doctests_and_notebooks_are_accepted() {
        for text in [
            "        y = x +\n",
            ">>> x = = 1\n",
            "%matplotlib inline\n!pip install torch\nimport torch\n",
            "class {{ name }}:\n    pass\n",
        ] {
            assert_eq!(syntax_error(text), None, "{text}");
        }
    }
}
