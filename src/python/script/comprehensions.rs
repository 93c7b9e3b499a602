//! Comprehensions.

use tree_sitter::Node;

use super::super::syntax::{children, field};
use super::machine::{Eval, Machine, Stop};
use super::value::Value;

/// Evaluated items of a comprehension, or `None` if the number of items is unknown.
type Found<'t> = Option<Vec<(Value<'t>, Value<'t>)>>;

impl<'t> Machine<'t> {
    /// Evaluates a list comprehension or a generator expression, as a list.
    pub fn list_comprehension(&mut self, node: Node<'t>) -> Eval<'t> {
        Ok(match self.comprehension(node)? {
            Some(items) => self.list(items.into_iter().map(|(item, _)| item).collect()),
            None => self.open_list(),
        })
    }

    /// Evaluates a dictionary comprehension.
    pub fn dictionary_comprehension(&mut self, node: Node<'t>) -> Eval<'t> {
        let found = self.comprehension(node)?;
        let dict = self.dict(vec![], found.is_none());
        for (key, value) in found.unwrap_or_default() {
            self.set_entry(&dict, key, value);
        }
        Ok(dict)
    }

    fn comprehension(&mut self, node: Node<'t>) -> Result<Found<'t>, Stop> {
        let Some(body) = field(node, "body") else { return Ok(None) };
        let clauses: Vec<Node<'t>> = children(node)
            .into_iter()
            .filter(|child| matches!(child.kind(), "for_in_clause" | "if_clause"))
            .collect();
        let parent = self.frames.last().map(|frame| frame.scope);
        let scope = self.inner_scope(parent);
        // The variables of a comprehension are in a scope that only the comprehension sees.
        let outer = self.frames.last_mut().map(|frame| std::mem::replace(&mut frame.scope, scope));
        let mut found = vec![];
        let known = self.clauses(&clauses, body, &mut found);
        if let (Some(frame), Some(outer)) = (self.frames.last_mut(), outer) {
            frame.scope = outer;
        }
        Ok(known?.then_some(found))
    }

    /// Runs `clauses`, and `body` for each item. Returns false if the number of items is unknown.
    fn clauses(
        &mut self,
        clauses: &[Node<'t>],
        body: Node<'t>,
        found: &mut Vec<(Value<'t>, Value<'t>)>,
    ) -> Result<bool, Stop> {
        self.enter()?;
        let known = self.clause(clauses, body, found);
        self.leave();
        known
    }

    fn clause(
        &mut self,
        clauses: &[Node<'t>],
        body: Node<'t>,
        found: &mut Vec<(Value<'t>, Value<'t>)>,
    ) -> Result<bool, Stop> {
        let Some((clause, rest)) = clauses.split_first() else {
            let item = match body.kind() {
                "pair" => {
                    let key = self.evaluate_optional(field(body, "key"))?;
                    (key, self.evaluate_optional(field(body, "value"))?)
                }
                _ => (self.evaluate(body)?, Value::None),
            };
            found.push(item);
            return Ok(true);
        };
        if clause.kind() == "if_clause" {
            let condition = self.evaluate_optional(children(*clause).first().copied())?;
            return match self.truth(&condition) {
                Some(true) => self.clauses(rest, body, found),
                Some(false) => Ok(true),
                None => {
                    self.maybe(rest, body)?;
                    Ok(false)
                }
            };
        }
        let (Some(left), Some(right)) = (field(*clause, "left"), field(*clause, "right")) else {
            return Ok(false);
        };
        let iterable = self.evaluate(right)?;
        let Some(items) = self.iterated(&iterable) else {
            let item = self.element(&iterable);
            self.assign(left, item)?;
            self.maybe(rest, body)?;
            return Ok(false);
        };
        let items = self.taken_items(items, &iterable, *clause);
        let mut known = true;
        for item in items {
            self.assign(left, item)?;
            known &= self.clauses(rest, body, found)?;
        }
        Ok(known)
    }

    /// Runs the remaining clauses and the body for an item that is possibly skipped or absent.
    ///
    /// An item is possibly skipped if the value of a condition is unknown.
    fn maybe(&mut self, rest: &[Node<'t>], body: Node<'t>) -> Result<(), Stop> {
        let before = self.heap.snapshot();
        let done = self.in_doubt(|machine| machine.clauses(rest, body, &mut vec![]));
        let after = self.heap.restore(&before);
        self.heap.join(&after);
        match done {
            Err(Stop::Exhausted) => Err(Stop::Exhausted),
            _ => Ok(()),
        }
    }
}
