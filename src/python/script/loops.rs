//! Loops.

use tree_sitter::Node;

use super::super::syntax::field;
use super::machine::Machine;
use super::record::Taken;
use super::statements::{Flow, Step};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Runs a `for` loop.
    pub fn for_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Ok(Flow::Next);
        };
        let body = field(node, "body");
        let otherwise = field(node, "alternative").and_then(|other| field(other, "body"));
        if let Some(flow) = self.generator_loop(left, right, body, otherwise) {
            return flow;
        }
        let iterable = self.evaluate(right)?;
        let items = self.iterated(&iterable);
        self.begin_loop();
        let ended = match items {
            Some(items) => {
                let count = items.len();
                let items = self.taken_items(items, &iterable, node);
                let differs = items.len() != count;
                let ended = self.each(items, left, body);
                if differs && matches!(ended, Ok(Flow::Next)) {
                    self.deviate_recurrence(left, body)?;
                }
                if let Some(record) = self.record.as_mut().filter(|_| differs) {
                    record.is_lost = true;
                }
                ended
            }
            None => {
                self.note_data_loop(node, right);
                let item = self.element(&iterable);
                // A loader of a data set that is not empty has a batch.
                if self.has_batch(&iterable) {
                    let first = self.each(vec![item.clone()], left, body);
                    if !matches!(first, Ok(Flow::Next)) {
                        return self.end_loop(first, otherwise);
                    }
                }
                self.unknown_loop(|machine| {
                    machine.assign(left, item.clone())?;
                    body.map_or(Ok(Flow::Next), |body| machine.block(body))
                })
            }
        };
        self.end_loop(ended, otherwise)
    }

    fn each(&mut self, items: Vec<Value<'t>>, left: Node<'t>, body: Option<Node<'t>>) -> Step<'t> {
        for item in items {
            self.enter()?;
            self.leave();
            self.assign(left, item)?;
            let flow = body.map_or(Ok(Flow::Next), |body| self.block(body))?;
            self.join_continued();
            if !matches!(flow, Flow::Next | Flow::Continue) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Runs a `while` loop.
    pub fn while_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let Some(condition) = field(node, "condition") else { return Ok(Flow::Next) };
        let body = field(node, "body");
        let otherwise = field(node, "alternative").and_then(|other| field(other, "body"));
        self.begin_loop();
        let ended = self.turns(node, condition, body);
        self.end_loop(ended, otherwise)
    }

    fn turns(&mut self, whole: Node<'t>, condition: Node<'t>, body: Option<Node<'t>>) -> Step<'t> {
        loop {
            self.enter()?;
            self.leave();
            let value = self.evaluate(condition)?;
            let truth = self.truth(&value);
            if truth.is_none() {
                self.check_branch(&value, condition)?;
                self.note_data_loop(whole, condition);
            }
            let truth = truth.map(|truth| self.taken(Taken::Turns, whole, i64::from(truth)) != 0);
            match truth {
                Some(false) => return Ok(Flow::Next),
                Some(true) => {
                    let flow = body.map_or(Ok(Flow::Next), |body| self.block(body))?;
                    self.join_continued();
                    if !matches!(flow, Flow::Next | Flow::Continue) {
                        return Ok(flow);
                    }
                }
                None => {
                    return self.unknown_loop(|machine| {
                        let flow = body.map_or(Ok(Flow::Next), |body| machine.block(body))?;
                        machine.evaluate(condition)?;
                        Ok(flow)
                    });
                }
            }
        }
    }

    /// Enters a loop in the current frame.
    pub fn begin_loop(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.push((vec![], vec![]));
        }
    }

    /// Joins the paths that may have skipped the rest of the body.
    pub fn join_continued(&mut self) {
        let loops = self.frames.last_mut().and_then(|frame| frame.loops.last_mut());
        for heap in loops.map(|(_, continues)| std::mem::take(continues)).unwrap_or_default() {
            self.heap.join(&heap);
        }
    }

    /// Leaves a loop that ended with `ended`, and runs its `else` clause.
    pub fn end_loop(&mut self, ended: Step<'t>, otherwise: Option<Node<'t>>) -> Step<'t> {
        let left = self.frames.last_mut().and_then(|frame| frame.loops.pop());
        let mut flow = ended?;
        if flow == Flow::Next
            && let Some(otherwise) = otherwise
        {
            flow = self.block(otherwise)?;
        }
        let breaks = left.map(|(breaks, _)| breaks).unwrap_or_default();
        for heap in breaks {
            flow = match flow {
                Flow::Next | Flow::Break => {
                    self.heap.join(&heap);
                    Flow::Next
                }
                ended => {
                    let now = self.heap.restore(&heap);
                    self.remember(ended, now);
                    Flow::Next
                }
            };
        }
        Ok(if matches!(flow, Flow::Break | Flow::Continue) { Flow::Next } else { flow })
    }

    /// Runs up to two iterations of a loop with an unknown number of iterations.
    ///
    /// After two iterations, the values that change are unknown.
    fn unknown_loop(&mut self, mut turn: impl FnMut(&mut Self) -> Step<'t>) -> Step<'t> {
        for _ in 0..2 {
            let before = self.heap.snapshot();
            let flow = self.either(&mut turn, |_| Ok(Flow::Next))?;
            self.join_continued();
            if flow != Flow::Next || self.heap.is_unchanged_since(&before) {
                break;
            }
        }
        Ok(Flow::Next)
    }
}
