//! Uses of iterators: whether a loop or function reads all items at once.

use tree_sitter::Node;

use super::super::syntax::{ancestors, everything, field, within};
use super::library::is_builtin;
use super::machine::{Eval, Machine};
use super::statements::Flow;
use super::value::Value;
use super::words::lists;

/// Functions, classes and methods that read all items of an iterable.
const READERS: &str = "
    list tuple set frozenset dict sorted sum max min OrderedDict ModuleList Sequential ParameterList ModuleDict
    deque Counter array asarray fromiter stack cat concatenate hstack vstack prod extend update join reduce";

/// Functions that return an iterator over their arguments.
const LAZY: &str =
    "enumerate zip reversed map filter iter chain from_iterable islice product pairwise tqdm track";

/// Functions that return an iterator, which reads all items of its only iterable.
const WHOLE: &str = "enumerate pairwise tqdm track";

/// Libraries whose functions do not change the state of a generator.
const LIBRARIES: [&str; 5] = ["nn.", "torch.", "F.", "np.", "math."];

/// Functions that read only some items.
const PARTIAL: &str = "any all next";

impl<'t> Machine<'t> {
    /// Returns true if the code after the creation of an iterator reads its items once.
    pub fn is_iterated_once(&self, expression: Node<'t>) -> bool {
        self.is_read(expression, false) || self.is_named_and_read(expression)
    }

    /// Returns true if all code of a generator runs where an expression calls it.
    pub fn runs_at_once(&self, call: Node<'t>) -> bool {
        self.is_read(call, true)
    }

    /// Returns true if only the first item of a generator is read, as by `next(iter(items()))`.
    pub fn is_first_read(&self, call: Node<'t>) -> bool {
        let callee = |node: Node<'t>| -> Option<(Node<'t>, &'t str)> {
            let outer = node.parent().filter(|list| list.kind() == "argument_list")?.parent()?;
            Some((outer, self.text(field(outer, "function")?)))
        };
        match callee(call) {
            Some((_, "next")) => true,
            Some((outer, "iter")) => callee(outer).is_some_and(|(_, name)| name == "next"),
            _ => false,
        }
    }

    /// Returns true if the code around an expression reads the items of its value.
    ///
    /// With `all`, the code reads all items, and runs no other code between two items.
    fn is_read(&self, expression: Node<'t>, all: bool) -> bool {
        let mut inner = expression;
        while let Some(outer) = inner.parent() {
            let call = match outer.kind() {
                "parenthesized_expression" => {
                    inner = outer;
                    continue;
                }
                "list_splat" => return true,
                "for_statement" => return !all && field(outer, "right") == Some(inner),
                "for_in_clause" => {
                    let is_plain = outer.parent().is_some_and(|whole| !self.calls_others(whole, expression));
                    return field(outer, "right") == Some(inner) && (!all || is_plain);
                }
                "comparison_operator" | "yield" => return !all,
                "assignment" => {
                    let is_unpacked = field(outer, "left")
                        .is_some_and(|left| matches!(left.kind(), "pattern_list" | "tuple_pattern"));
                    return is_unpacked && field(outer, "right") == Some(inner);
                }
                "argument_list" => outer.parent(),
                "call" if field(outer, "arguments") == Some(inner) => Some(outer),
                _ => return false,
            };
            let callee = call.and_then(|call| field(call, "function"));
            let name = callee.map(|callee| field(callee, "attribute").unwrap_or(callee));
            let name = name.map_or("", |name| self.text(name));
            if lists(READERS, name) || !all && lists(PARTIAL, name) {
                return true;
            }
            match call.filter(|_| lists(if all { WHOLE } else { LAZY }, name)) {
                Some(call) => inner = call,
                None => return false,
            }
        }
        false
    }

    /// Returns true if an expression has calls besides `known` that are not of built-in functions.
    fn calls_others(&self, expression: Node<'t>, known: Node<'t>) -> bool {
        within(expression).into_iter().any(|node| {
            let is_library = |callee: Node<'t>| {
                let name = self.text(callee);
                is_builtin(name)
                    || lists(WHOLE, name)
                    || LIBRARIES.iter().any(|library| name.starts_with(library))
            };
            node.kind() == "call"
                && node != known
                && !known.byte_range().contains(&node.start_byte())
                && field(node, "function").is_none_or(|callee| !is_library(callee))
        })
    }

    /// Returns true if an expression is assigned to a name that is read once, as an iterator.
    fn is_named_and_read(&self, expression: Node<'t>) -> bool {
        let Some(assignment) = expression.parent().filter(|outer| outer.kind() == "assignment") else {
            return false;
        };
        let Some(left) = field(assignment, "left").filter(|left| left.kind() == "identifier") else {
            return false;
        };
        let is_scope = |node: &Node<'t>| matches!(node.kind(), "function_definition" | "module");
        let Some(scope) = ancestors(left).find(is_scope) else { return false };
        let name = self.text(left);
        let loops = |node: Node<'t>| {
            ancestors(node).take_while(|outer| !is_scope(outer)).filter(move |outer| {
                let is_head = field(*outer, "right")
                    .is_some_and(|right| right.byte_range().contains(&node.start_byte()));
                matches!(outer.kind(), "for_statement" | "while_statement") && !is_head
            })
        };
        let is_name = |node: &Node<'t>| node.kind() == "identifier" && self.text(*node) == name;
        let mentions: Vec<Node<'t>> = everything(scope).into_iter().filter(is_name).collect();
        match mentions[..] {
            [first, second] => {
                first == left
                    && self.is_read(second, false)
                    && !self.changes_before(assignment, expression, second)
                    && loops(first).map(|one| one.id()).eq(loops(second).map(|one| one.id()))
                    && ancestors(second).find(is_scope) == Some(scope)
            }
            _ => false,
        }
    }

    /// Returns true if code between an assignment and a later node may change the value of an expression.
    fn changes_before(&self, assignment: Node<'t>, expression: Node<'t>, later: Node<'t>) -> bool {
        let names = |node: Node<'t>| -> Vec<&'t str> {
            let all = everything(node).into_iter().filter(|node| node.kind() == "identifier");
            all.map(|node| self.text(node)).collect()
        };
        let own = names(expression);
        let mut statement = assignment.parent().and_then(|statement| statement.next_named_sibling());
        while let Some(next) = statement {
            if next.byte_range().contains(&later.start_byte()) {
                // The body of a loop runs between two items.
                return next.kind() == "for_statement"
                    && everything(next).into_iter().any(|node| {
                        matches!(node.kind(), "assignment" | "augmented_assignment")
                            && field(node, "left")
                                .is_some_and(|left| names(left).iter().any(|name| own.contains(name)))
                    });
            }
            if names(next).iter().any(|name| own.contains(name)) || self.calls_others(next, expression) {
                return true;
            }
            statement = next.next_named_sibling();
        }
        true
    }

    /// Evaluates code that runs later, or never: it reports nothing, and its result is unknown.
    pub fn evaluate_later(&mut self, code: impl FnOnce(&mut Self) -> Eval<'t>) -> Eval<'t> {
        self.quiet += 1;
        let flow = self.either(|machine| code(machine).map(|_| Flow::Next), |_| Ok(Flow::Next));
        self.quiet -= 1;
        flow.map(|_| Value::Unknown)
    }
}
