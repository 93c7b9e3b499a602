//! `try` statements.

use tree_sitter::Node;

use super::super::syntax::{bare, children, field};
use super::machine::{Machine, Stop};
use super::statements::{Flow, Step};
use super::value::Value;
use super::yields::ENDED;

impl<'t> Machine<'t> {
    /// Runs a `try` statement.
    pub fn try_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let clauses = |kind| children(node).into_iter().filter(move |child| child.kind() == kind);
        let handlers: Vec<Node> = clauses("except_clause").chain(clauses("except_group_clause")).collect();
        let before = self.heap.snapshot();
        let body = field(node, "body");
        let ended = body.map_or(Ok(Flow::Next), |body| self.block(body));
        let ended = match ended {
            Err(Stop::Raised(raised)) => match self.handler(&handlers, &raised.kind) {
                Some(handler) => self.handle(handler),
                None => Err(Stop::Raised(raised)),
            },
            // Any statement of the body may raise for an unknown reason.
            Ok(flow) if !handlers.is_empty() && !is_certain(body) => {
                let after = self.heap.restore(&before);
                self.heap.join(&after);
                let handled = self.in_doubt(|machine| machine.handle(handlers[0]));
                let other = self.heap.restore(&after);
                match handled {
                    Ok(Flow::Next) => {
                        let is_import = body.is_some_and(only_imports);
                        if !is_import {
                            self.heap.join(&other);
                        }
                        Ok(flow)
                    }
                    Err(Stop::Exhausted) => Err(Stop::Exhausted),
                    _ => Ok(flow),
                }
            }
            ended => ended,
        };
        let otherwise = clauses("else_clause").next().and_then(|clause| field(clause, "body"));
        let ended = match (ended, otherwise) {
            (Ok(Flow::Next), Some(otherwise)) => self.block(otherwise),
            (ended, _) => ended,
        };
        let last = clauses("finally_clause").next();
        let last = last.and_then(|clause| children(clause).into_iter().find(|c| c.kind() == "block"));
        match last.map(|last| self.block(last)) {
            None | Some(Ok(Flow::Next)) => ended,
            Some(flow) => flow,
        }
    }

    fn handle(&mut self, handler: Node<'t>) -> Step<'t> {
        for part in children(handler) {
            if part.kind() == "as_pattern"
                && let Some(target) = field(part, "alias").and_then(|alias| children(alias).first().copied())
            {
                self.assign(target, Value::Unknown)?;
            }
        }
        let block = children(handler).into_iter().find(|child| child.kind() == "block");
        block.map_or(Ok(Flow::Next), |block| self.block(block))
    }

    /// Returns the first clause that may catch an exception.
    fn handler(&self, handlers: &[Node<'t>], kind: &str) -> Option<Node<'t>> {
        handlers.iter().copied().find(|handler| {
            let caught = children(*handler).into_iter().find(|child| child.kind() != "block");
            let Some(caught) = caught else { return true };
            let caught = if caught.kind() == "as_pattern" { children(caught)[0] } else { caught };
            let names = match bare(caught).kind() {
                "tuple" => children(bare(caught)),
                _ => vec![bare(caught)],
            };
            names.into_iter().any(|name| may_catch(self.text(name), kind))
        })
    }
}

/// Returns true if `except caught` may catch an exception of the class `kind`.
fn may_catch(caught: &str, kind: &str) -> bool {
    let caught = caught.rsplit('.').next().unwrap_or(caught);
    let is_system = matches!(kind, "SystemExit" | "KeyboardInterrupt" | ENDED);
    let unrelated = ["KeyboardInterrupt", "SystemExit", "ImportError", "ModuleNotFoundError", "OSError"];
    match caught {
        "BaseException" => true,
        _ if kind == ENDED => caught == ENDED,
        "Exception" => !is_system,
        _ if caught == kind => true,
        _ if unrelated.contains(&caught) => false,
        "TypeError" | "AttributeError" | "KeyError" | "IndexError" | "ValueError" | "AssertionError" => {
            // An exception class that is not listed here may be derived from the caught class.
            !["RuntimeError", "TypeError", "AttributeError", "ValueError", "IndexError", "AssertionError"]
                .contains(&kind)
        }
        _ => true,
    }
}

/// Returns true if the body has only `pass` statements, which cannot raise.
fn is_certain(body: Option<Node>) -> bool {
    body.is_none_or(|body| children(body).iter().all(|statement| statement.kind() == "pass_statement"))
}

fn only_imports(body: Node) -> bool {
    children(body).iter().all(|statement| {
        matches!(statement.kind(), "import_statement" | "import_from_statement")
            || statement.kind() == "expression_statement"
                && children(*statement).iter().all(|child| child.kind() == "assignment")
    })
}
