//! Comprehensions.

use tree_sitter::Node;

use super::super::syntax::{children, field};
use super::heap::Object;
use super::machine::{Eval, Machine, Stop};
use super::value::Value;

/// Evaluated items of a comprehension, or `None` if the number of items is unknown.
type Found<'t> = Option<Pairs<'t>>;

/// Items of a comprehension, or keys and values.
type Pairs<'t> = Vec<(Value<'t>, Value<'t>)>;

impl<'t> Machine<'t> {
    /// Evaluates a list comprehension or a generator expression, as a list.
    pub fn list_comprehension(&mut self, node: Node<'t>) -> Eval<'t> {
        if node.kind() == "generator_expression" && !self.is_iterated_once(node) {
            return self.evaluate_later(|machine| machine.comprehension(node).map(|_| Value::Unknown));
        }
        Ok(match self.comprehension(node)? {
            Some(items) => self.list(items.into_iter().map(|(item, _)| item).collect()),
            None => self.open_list(),
        })
    }

    /// Evaluates a dictionary comprehension.
    pub fn dictionary_comprehension(&mut self, node: Node<'t>) -> Eval<'t> {
        let (found, is_complete) = self.found(node)?;
        let dict = self.dict(vec![], !is_complete);
        for (key, value) in found {
            self.set_entry(&dict, key, value);
        }
        Ok(dict)
    }

    fn comprehension(&mut self, node: Node<'t>) -> Result<Found<'t>, Stop> {
        let (found, is_complete) = self.found(node)?;
        Ok(is_complete.then_some(found))
    }

    /// Returns the known items of a comprehension, and whether these are all.
    fn found(&mut self, node: Node<'t>) -> Result<(Pairs<'t>, bool), Stop> {
        let Some(body) = field(node, "body") else { return Ok((vec![], false)) };
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
        Ok((found, known?))
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
            for pair in self.known_pairs(&iterable, body) {
                self.assign(left, pair)?;
                self.clauses(rest, body, found)?;
            }
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

    /// Returns the known entries of an open dictionary, from which a comprehension makes another.
    fn known_pairs(&self, iterable: &Value<'t>, body: Node<'t>) -> Vec<Value<'t>> {
        let list = iterable.object().map(|object| self.heap.get(object));
        match list {
            Some(Object::List(list)) if list.open && body.kind() == "pair" => {
                let is_pair = |item: &&Value<'t>| matches!(item, Value::Tuple(pair) if pair.len() == 2);
                list.items.iter().filter(is_pair).cloned().collect()
            }
            _ => vec![],
        }
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
