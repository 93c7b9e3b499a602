//! The Python syntax tree, and helpers to query it.

use tree_sitter::{Node, Parser, Tree};

/// Parses Python; invalid code produces a tree with error nodes.
///
/// Returns `None` only if the grammar is incompatible with the library, which tests exclude.
pub fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    parser.parse(text, None)
}

/// Returns the text of a node.
pub fn text<'s>(node: Node, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or("")
}

/// Maximum number of characters of quoted code in a message.
const MAX_QUOTED: usize = 80;

/// Returns the text of a node on one line, truncated if long.
pub fn one_line(node: Node, source: &str) -> String {
    on_one_line(text(node, source))
}

/// Returns `text` on one line, truncated if long.
pub fn on_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns the nodes that contain a node, from the innermost to the root.
pub fn ancestors(node: Node) -> impl Iterator<Item = Node> {
    std::iter::successors(node.parent(), Node::parent)
}

/// Returns a node and the nodes that contain it, from the innermost to the root.
pub fn with_ancestors(node: Node) -> impl Iterator<Item = Node> {
    std::iter::once(node).chain(ancestors(node))
}

/// Returns the named children, without comments and the backslashes of continued lines.
pub fn children(node: Node) -> Vec<Node> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(is_code).collect()
}

fn is_code(node: &Node) -> bool {
    !matches!(node.kind(), "comment" | "line_continuation")
}

/// Returns the child in `field`.
pub fn field<'t>(node: Node<'t>, field: &str) -> Option<Node<'t>> {
    node.child_by_field_name(field)
}

/// Returns all children in `field`, which may be repeated.
pub fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).collect()
}

/// Returns the 1-based line on which a node begins.
pub fn line(node: Node) -> u32 {
    u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX)
}

/// Strips all parentheses around an expression.
pub fn bare(mut node: Node) -> Node {
    while node.kind() == "parenthesized_expression" {
        let Some(inner) = children(node).first().copied() else { break };
        node = inner;
    }
    node
}

/// Maximum depth of the nodes that [`walk`] returns.
///
/// Finding a node's parent takes time linear in its depth, so a deep expression would take quadratic time.
const MAX_NESTING: u32 = 300;

/// Returns `node` and its descendants in text order.
/// Omits the contents of nested functions and classes, and nodes that are too deep.
pub fn within(node: Node) -> Vec<Node> {
    let is_outside = |next: &Node| matches!(next.kind(), "function_definition" | "class_definition");
    walk(node, |next| *next == node || !is_outside(next))
}

/// Returns `root` and its descendants in text order, without comments and too deep nodes.
pub fn everything(root: Node) -> Vec<Node> {
    walk(root, |_| true)
}

/// Returns the text below `root` without comments and docstrings.
pub fn without_remarks(root: Node, source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut cursor = root.walk();
    let mut end = 0;
    loop {
        let node = cursor.node();
        let is_remark = is_remark(node);
        if is_remark {
            code.push_str(source.get(end..node.start_byte()).unwrap_or(""));
            end = node.end_byte();
        }
        let mut moved = !is_remark && cursor.goto_first_child();
        while !moved {
            moved = cursor.goto_next_sibling();
            if !moved && !cursor.goto_parent() {
                code.push_str(source.get(end..).unwrap_or(""));
                return code;
            }
        }
    }
}

/// Returns true for a comment, and for a statement that is only a string.
fn is_remark(node: Node) -> bool {
    let is_text = |node: Node| {
        node.kind() == "string" && children(node).iter().all(|part| part.kind() != "interpolation")
    };
    node.kind() == "comment"
        || node.kind() == "expression_statement"
            && node.named_child_count() == 1
            && node.named_child(0).is_some_and(is_text)
}

/// Returns all `import` and `from … import` statements below `root`, in text order.
pub fn imports(root: Node) -> Vec<Node> {
    let is_import = |node: &Node| matches!(node.kind(), "import_statement" | "import_from_statement");
    let holds_statements = |node: &Node| {
        let kind = node.kind();
        matches!(kind, "module" | "block" | "decorated_definition" | "case_block" | "ERROR")
            || kind.ends_with("_statement") && !matches!(kind, "expression_statement" | "return_statement")
            || kind.ends_with("_clause")
            || kind.ends_with("_definition")
    };
    walk(root, holds_statements).into_iter().filter(is_import).collect()
}

/// Returns `root` and its named descendants in text order, without comments and too deep nodes.
///
/// `is_entered` selects the nodes whose children are visited.
fn walk<'t>(root: Node<'t>, is_entered: impl Fn(&Node<'t>) -> bool) -> Vec<Node<'t>> {
    let mut found = vec![root];
    let mut cursor = root.walk();
    let mut depth = 0;
    let mut enters = is_entered(&root);
    loop {
        let mut moved = enters && depth < MAX_NESTING && cursor.goto_first_child();
        depth += u32::from(moved);
        while !moved {
            if depth == 0 {
                return found;
            }
            moved = cursor.goto_next_sibling();
            if !moved {
                cursor.goto_parent();
                depth -= 1;
            }
        }
        let node = cursor.node();
        enters = node.is_named() && is_code(&node);
        if enters {
            found.push(node);
            enters = is_entered(&node);
        }
    }
}

/// Returns the first literal text in a string. Escapes are not decoded.
pub fn string<'s>(node: Node, source: &'s str) -> Option<&'s str> {
    if node.kind() != "string" {
        return None;
    }
    let content = children(node).into_iter().find(|part| part.kind() == "string_content")?;
    Some(text(content, source))
}

/// Positional and keyword arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct Arguments<'t> {
    /// Positional arguments.
    pub positional: Vec<Node<'t>>,
    /// Names and values of the keyword arguments.
    pub keywords: Vec<(&'t str, Node<'t>)>,
    /// `*args` and `**kwargs`, which may add positional and keyword arguments.
    pub spreads: Vec<Node<'t>>,
}

impl<'t> Arguments<'t> {
    /// Returns the arguments of a call.
    pub fn of(call: Node<'t>, source: &'t str) -> Self {
        let mut arguments = Arguments::default();
        let Some(list) = field(call, "arguments") else { return arguments };
        if list.kind() == "generator_expression" {
            arguments.positional.push(list);
            return arguments;
        }
        for child in children(list) {
            match (child.kind(), field(child, "name"), field(child, "value")) {
                ("keyword_argument", Some(name), Some(value)) => {
                    arguments.keywords.push((text(name, source), value));
                }
                ("list_splat" | "dictionary_splat", ..) => arguments.spreads.push(child),
                _ => arguments.positional.push(child),
            }
        }
        arguments
    }

    /// Returns an argument by 0-based position, or by name.
    pub fn get(&self, position: usize, name: &str) -> Option<Node<'t>> {
        self.positional.get(position).copied().or_else(|| self.keyword(name))
    }

    /// Returns an argument by name.
    pub fn keyword(&self, name: &str) -> Option<Node<'t>> {
        self.keywords.iter().find(|(keyword, _)| *keyword == name).map(|(_, value)| *value)
    }
}

/// Returns the range of 1-based lines from the start to the end of a node.
pub fn lines(node: Node) -> std::ops::RangeInclusive<u32> {
    let last = u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX);
    line(node)..=last
}
