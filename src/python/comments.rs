//! Comments and statements of Python sources, with their lines.

use std::ops::RangeInclusive;

use tree_sitter::Node;

use super::syntax::{self, line};

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Byte offset of the `#`.
    pub start: usize,
    /// 1-based line.
    pub line: u32,
    /// Text from the `#` to the end of the line.
    pub text: String,
}

/// Returns the comments of a file in text order, and the lines of its statements and clauses.
///
/// The lines of a statement or clause with a block are those of its header.
pub fn comments(source: &str) -> (Vec<Comment>, Vec<RangeInclusive<u32>>) {
    let (mut comments, mut statements) = (Vec::new(), Vec::new());
    let Some(tree) = syntax::parse(source) else { return (comments, statements) };
    let mut todo = vec![tree.root_node()];
    while let Some(node) = todo.pop() {
        match node.kind() {
            "comment" => comments.push(Comment {
                start: node.start_byte(),
                line: line(node),
                text: syntax::text(node, source).to_owned(),
            }),
            kind if is_statement(kind) => statements.push(line(node)..=header_end(node)),
            _ => {}
        }
        let mut cursor = node.walk();
        todo.extend(node.children(&mut cursor));
    }
    comments.sort_by_key(|comment| comment.start);
    (comments, statements)
}

fn is_statement(kind: &str) -> bool {
    ["_statement", "_definition", "_clause"].iter().any(|end| kind.ends_with(end))
}

/// Returns the last line of a statement, or of its header if it has a block.
fn header_end(node: Node) -> u32 {
    if let Some(inner) = syntax::field(node, "definition") {
        return header_end(inner);
    }
    let mut cursor = node.walk();
    let block = node.children(&mut cursor).find(|child| child.kind() == "block");
    let last = match block.and_then(|block| block.prev_sibling()) {
        Some(before) => before.end_position(),
        None => node.end_position(),
    };
    u32::try_from(last.row + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_in_strings_are_not_comments() {
        let source = "x = '# a'  # b\n\"\"\"\n# c\n\"\"\"\nf(  # d\n    1)\n";
        let found: Vec<(u32, String)> =
            comments(source).0.into_iter().map(|comment| (comment.line, comment.text)).collect();
        assert_eq!(found, [(1, "# b".to_owned()), (5, "# d".to_owned())]);
    }

    #[test]
    fn lines_of_a_statement_end_with_its_header() {
        let source = "@a\ndef f(\n    x,\n):\n    y = g(\n        x)\n    if (y\n            > 0):\n        return y\n";
        let mut found = comments(source).1;
        found.sort_by_key(|lines| *lines.start());
        assert!(found.contains(&(1..=4)) && found.contains(&(5..=6)), "{found:?}");
        assert!(found.contains(&(7..=8)) && found.contains(&(9..=9)), "{found:?}");
    }
}
