//! What a help says, and the piece of code that can be written so, where it is no more than a piece.

use tree_sitter::{Node, Point, Range};

use crate::diag::{Applicability, Position, Rewrite};

use super::super::syntax::{self, Arguments, children, field, text, within};

/// What to do about a fault.
#[derive(Clone, Debug)]
pub struct Help {
    /// In words.
    pub text: String,
    /// In code.
    pub piece: Option<Piece>,
}

impl Help {
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

/// A part of the source, and what to write there instead.
#[derive(Clone, Debug)]
pub struct Piece {
    place: Range,
    text: String,
    applicability: Applicability,
}

impl Piece {
    /// The expression `by` instead of the one at `node`, in parentheses where they are needed. `None` where it is none,
    /// or the same.
    pub fn instead(node: Node, by: &str, applicability: Applicability, source: &str) -> Option<Piece> {
        // A call of `torch` where the file knows it by that name.
        let operand = operand(by).filter(|_| !by.contains("torch.") || imports_torch(source))?;
        let is_apart = node.parent().is_some_and(|parent| SEPARATE.contains(&parent.kind()));
        let text = if is_apart && !by.contains('\n') { by.to_owned() } else { operand };
        (text != syntax::text(node, source)).then_some(Piece { place: node.range(), text, applicability })
    }

    /// `n += 2` as `n = n + 2`, which computes the same and makes a new value.
    pub fn apart(statement: Node, source: &str) -> Option<Piece> {
        let part = |name| field(statement, name);
        let (left, right) = (part("left")?, part("right")?);
        let operator = text(part("operator")?, source).trim_end_matches('=');
        // What is called would be called twice.
        let is_plain = within(left).iter().all(|node| node.kind() != "call");
        let (target, by) = (text(left, source), operand(text(right, source))?);
        is_plain.then(|| Piece {
            place: statement.range(),
            text: format!("{target} = {target} {operator} {by}"),
            applicability: Applicability::Safe,
        })
    }

    /// `int(a / 2)` as `a // 2`, and `a`: the same where that is a whole number, and not negative.
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

    /// The first size of the argument of `len(x)`.
    pub fn first_size(call: Node, argument: Node, source: &str) -> Option<Piece> {
        let size = format!("{}.shape[0]", operand(text(argument, source))?);
        Piece::instead(call, &size, Applicability::Safe, source)
    }

    /// `x.data` as `x.detach()`; `None` where it is written to, which no other name for `x` would see in a trace either.
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

    /// The argument at a 0-based `position`, or named so, as `value`.
    pub fn argument(call: Node, position: usize, name: &str, value: &str, source: &str) -> Option<Piece> {
        let arguments = Arguments::of(call, source);
        let (place, text) = match arguments.get(position, name) {
            Some(given) => (given.range(), value.to_owned()),
            // What `*args` and `**kwargs` hold may be the argument.
            None if !arguments.spreads.is_empty() => return None,
            None => {
                let last = children(field(call, "arguments")?).last()?.range();
                let behind = Range { start_byte: last.end_byte, start_point: last.end_point, ..last };
                (behind, format!(", {name}={value}"))
            }
        };
        Some(Piece { place, text, applicability: Applicability::Unsafe })
    }

    /// What to write.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same with lines and columns.
    pub fn in_lines(self, source: &str) -> Rewrite {
        let Piece { place, text, applicability } = self;
        let start = position(place.start_byte, place.start_point, source);
        let end = position(place.end_byte, place.end_point, source);
        Rewrite { applicability, start, end, text }
    }
}

/// The line and the column of a byte, `point` being its row and the bytes before it in that.
pub fn position(byte: usize, point: Point, source: &str) -> Position {
    let before = source.get(byte - point.column..byte).unwrap_or("");
    let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    Position { line: number(point.row), column: number(before.chars().count()) }
}

/// Whether a file has `import torch`, under that name.
fn imports_torch(source: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['.', ',', ' ']);
    let mut imported = source.lines().filter_map(|line| line.trim().strip_prefix("import torch"));
    imported.any(|rest| ends(rest) && !rest.contains(" as "))
}

/// What separates the expressions in it from what is around them.
const SEPARATE: [&str; 9] = [
    "argument_list",
    "assignment",
    "expression_statement",
    "keyword_argument",
    "list",
    "parenthesized_expression",
    "return_statement",
    "subscript",
    "tuple",
];

/// What binds as strongly as a name.
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

/// `code` as an operand: in parentheses unless it binds as strongly as a name. `None` where it is no expression.
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
    fn torch_is_known_by_its_name() {
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
    fn operands_keep_together() {
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
