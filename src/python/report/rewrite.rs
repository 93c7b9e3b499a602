//! Help texts, with a code replacement if the fix is local.

use tree_sitter::{Node, Point, Range};

use crate::diag::{Applicability, Position, Rewrite};

use super::super::syntax::{self, Arguments, children, field, text, within};

/// The help of a finding.
#[derive(Clone, Debug)]
pub struct Help {
    /// Help text.
    pub text: String,
    /// Replacement code.
    pub piece: Option<Piece>,
}

impl Help {
    /// Creates a help with an optional replacement.
    pub fn new(text: impl Into<String>, piece: Option<Piece>) -> Self {
        Help { text: text.into(), piece }
    }
}

impl From<String> for Help {
    fn from(text: String) -> Self {
        Help::new(text, None)
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Self {
        Help::new(text, None)
    }
}

/// A range of the source with its replacement.
#[derive(Clone, Debug)]
pub struct Piece {
    place: Range,
    text: String,
    applicability: Applicability,
}

impl Piece {
    /// Replaces `node` by the expression `by`, in parentheses if needed.
    /// Returns `None` if `by` is not an expression, equals the old text, or uses `torch` without an import.
    pub fn instead(node: Node, by: &str, applicability: Applicability, source: &str) -> Option<Piece> {
        // A call of `torch` needs that name to be imported.
        let operand = operand(by).filter(|_| !by.contains("torch.") || imports_torch(source))?;
        let is_apart = node.parent().is_some_and(|parent| SEPARATE.contains(&parent.kind()));
        let text = if is_apart && !by.contains('\n') { by.to_owned() } else { operand };
        (text != syntax::text(node, source)).then_some(Piece { place: node.range(), text, applicability })
    }

    /// Rewrites `n += 2` as `n = n + 2`, which computes the same but creates a new value.
    pub fn apart(statement: Node, source: &str) -> Option<Piece> {
        let part = |name| field(statement, name);
        let (left, right) = (part("left")?, part("right")?);
        let operator = text(part("operator")?, source).trim_end_matches('=');
        // A call in the assignment target would run twice in the rewritten statement.
        let is_plain = within(left).iter().all(|node| node.kind() != "call");
        let (target, by) = (text(left, source), operand(text(right, source))?);
        is_plain.then(|| Piece {
            place: statement.range(),
            text: format!("{target} = {target} {operator} {by}"),
            applicability: Applicability::Safe,
        })
    }

    /// Rewrites `int(a / 2)` as `a // 2`, which is equal if `a` is a nonnegative integer. Also returns `a`.
    pub fn quotient<'t>(call: Node<'t>, source: &str) -> Option<(Piece, Node<'t>)> {
        let [argument] = children(field(call, "arguments")?)[..] else { return None };
        let part = |name| field(argument, name);
        let divided = part("left")?;
        let is = |node, what| text(node, source) == what;
        let by = text(part("right")?, source);
        let is_positive = by.parse::<u32>().is_ok_and(|by| by > 0);
        let is_quotient = is(field(call, "function")?, "int") && is(part("operator")?, "/") && is_positive;
        if !is_quotient {
            return None;
        }
        let whole = format!("{} // {by}", operand(text(divided, source))?);
        Some((Piece::instead(call, &whole, Applicability::Safe, source)?, divided))
    }

    /// Rewrites `len(x)` as the first size of its argument.
    pub fn first_size(call: Node, argument: Node, source: &str) -> Option<Piece> {
        let size = format!("{}.shape[0]", operand(text(argument, source))?);
        Piece::instead(call, &size, Applicability::Safe, source)
    }

    /// Rewrites `x.data` as `x.detach()`.
    /// Returns `None` if `x.data` is written to, because a trace would also lose a write to `x.detach()`.
    pub fn detached(attribute: Node, source: &str) -> Option<Piece> {
        let mut whole = attribute;
        while let Some(parent) = whole.parent() {
            let is = |name| field(parent, name) == Some(whole);
            match parent.kind() {
                "attribute" if text(parent, source).ends_with('_') => return None,
                "attribute" => {}
                "subscript" if is("value") => {}
                "call" if is("function") => {}
                "assignment" | "augmented_assignment" if is("left") => return None,
                _ => break,
            }
            whole = parent;
        }
        let object = text(field(attribute, "object")?, source);
        Piece::instead(attribute, &format!("{object}.detach()"), Applicability::Safe, source)
    }

    /// Sets an argument, given by 0-based `position` or by name, to `value`.
    pub fn argument(call: Node, position: usize, name: &str, value: &str, source: &str) -> Option<Piece> {
        let arguments = Arguments::of(call, source);
        let (place, text) = match arguments.get(position, name) {
            Some(given) => (given.range(), value.to_owned()),
            // `*args` and `**kwargs` may contain the argument.
            None if !arguments.spreads.is_empty() => return None,
            None => {
                let last = children(field(call, "arguments")?).last()?.range();
                let behind = Range { start_byte: last.end_byte, start_point: last.end_point, ..last };
                (behind, format!(", {name}={value}"))
            }
        };
        Some(Piece { place, text, applicability: Applicability::Unsafe })
    }

    /// Removes the argument whose value is `value`, and a comma.
    ///
    /// Returns `None` if the call has only this argument.
    pub fn without_argument(value: Node) -> Option<Piece> {
        let argument = argument_of(value)?;
        let (before, after) = (argument.prev_sibling(), argument.next_sibling());
        let (start, end) = match (before, after) {
            (_, Some(comma)) if comma.kind() == "," && comma.next_named_sibling().is_some() => {
                (argument.range(), comma.next_named_sibling()?.range())
            }
            (Some(comma), _) if comma.kind() == "," => {
                let end = argument.range();
                let place = Range { end_byte: end.end_byte, end_point: end.end_point, ..comma.range() };
                return Some(Piece { place, text: String::new(), applicability: Applicability::Unsafe });
            }
            _ => return None,
        };
        let place = Range { end_byte: end.start_byte, end_point: end.start_point, ..start };
        Some(Piece { place, text: String::new(), applicability: Applicability::Unsafe })
    }

    /// Renames the keyword of the argument whose value is `value`.
    pub fn renamed_argument(value: Node, name: &str) -> Option<Piece> {
        let keyword = argument_of(value).filter(|argument| argument.kind() == "keyword_argument")?;
        let place = field(keyword, "name")?.range();
        Some(Piece { place, text: name.to_owned(), applicability: Applicability::Unsafe })
    }

    /// Makes a positional argument a keyword argument.
    pub fn named_argument(value: Node, name: &str) -> Option<Piece> {
        let argument = argument_of(value).filter(|argument| *argument == value)?;
        let start = argument.range();
        let place = Range { end_byte: start.start_byte, end_point: start.start_point, ..start };
        Some(Piece { place, text: format!("{name}="), applicability: Applicability::Safe })
    }

    /// Returns the replacement text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Converts the byte range to lines and columns.
    pub fn in_lines(self, source: &str) -> Rewrite {
        let Piece { place, text, applicability } = self;
        let start = position(place.start_byte, place.start_point, source);
        let end = position(place.end_byte, place.end_point, source);
        Rewrite { applicability, start, end, text }
    }
}

/// Returns the line and column of a byte; `point` is the row of the byte and its offset in that row.
pub fn position(byte: usize, point: Point, source: &str) -> Position {
    let before = source.get(byte - point.column..byte).unwrap_or("");
    let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    Position { line: number(point.row), column: number(before.chars().count()) }
}

/// Returns the argument of a call whose value is the node `value`.
fn argument_of(value: Node) -> Option<Node> {
    let parent = value.parent()?;
    match parent.kind() {
        "argument_list" => Some(value),
        "keyword_argument" => Some(parent),
        _ => None,
    }
}

/// Returns true if a line of a file begins with `import torch`, and has no alias.
fn imports_torch(source: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['.', ',', ' ']);
    let mut imported = source.lines().filter_map(|line| line.trim().strip_prefix("import torch"));
    imported.any(|rest| ends(rest) && !rest.contains(" as "))
}

/// Kinds of syntax nodes whose child expressions are assumed to need no parentheses.
const SEPARATE: [&str; 10] = [
    "argument_list",
    "assignment",
    "expression_statement",
    "keyword_argument",
    "list",
    "pair",
    "parenthesized_expression",
    "return_statement",
    "subscript",
    "tuple",
];

/// Kinds of expressions that never need parentheses as an operand.
const PRIMARY: [&str; 10] = [
    "attribute",
    "call",
    "dictionary",
    "false",
    "float",
    "identifier",
    "integer",
    "list",
    "subscript",
    "true",
];

/// Returns `code` as an operand, in parentheses if needed, or `None` if `code` is not an expression.
fn operand(code: &str) -> Option<String> {
    if code.trim().is_empty() {
        return None;
    }
    let enclosed = format!("({code})");
    let tree = syntax::parse(&enclosed).filter(|tree| !tree.root_node().has_error())?;
    let [statement] = children(tree.root_node())[..] else { return None };
    let [expression] = children(statement)[..] else { return None };
    let inner =
        children(expression).first().copied().filter(|_| expression.kind() == "parenthesized_expression");
    let is_primary = inner
        .is_some_and(|inner| PRIMARY.contains(&inner.kind()) || inner.kind() == "parenthesized_expression");
    Some(if is_primary { code.to_owned() } else { enclosed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_of_torch_without_alias_is_recognized() {
        for source in [
            "import torch\n",
            "import torch.nn\n",
            "import torch, math\n",
            "try:\n    import torch  # here\n",
        ] {
            assert!(imports_torch(source), "{source}");
        }
        for source in [
            "import torch as t\n",
            "import torch.nn as nn\n",
            "import torchvision\n",
            "from torch import nn\n",
        ] {
            assert!(!imports_torch(source), "{source}");
        }
    }

    #[test]
    fn compound_operands_are_parenthesized() {
        for (code, expected) in [
            ("n", Some("n")),
            ("x.shape[0]", Some("x.shape[0]")),
            ("(a + b)", Some("(a + b)")),
            ("a + b", Some("(a + b)")),
            ("(a) + (b)", Some("((a) + (b))")),
            ("1, 2", Some("(1, 2)")),
            ("-n", Some("(-n)")),
            ("a if b else c", Some("(a if b else c)")),
            ("n)", None),
            ("", None),
        ] {
            assert_eq!(operand(code).as_deref(), expected, "{code}");
        }
    }
}
