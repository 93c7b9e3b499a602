//! Paths through a script: branches of which one is taken, and the join of their results.

use super::heap::Heap;
use super::machine::{Machine, Stop};
use super::statements::{Flow, Step};

impl<'t> Machine<'t> {
    /// Runs `code` as a branch that the script possibly does not run.
    pub fn in_doubt<T>(&mut self, code: impl FnOnce(&mut Self) -> T) -> T {
        self.doubt += 1;
        let result = code(self);
        self.doubt -= 1;
        result
    }

    /// Runs two paths of which one is taken, and joins their results.
    pub fn either(
        &mut self,
        first: impl FnOnce(&mut Self) -> Step<'t>,
        second: impl FnOnce(&mut Self) -> Step<'t>,
    ) -> Step<'t> {
        let before = self.heap.snapshot();
        let one = self.in_doubt(first);
        let after = self.heap.restore(&before);
        let other = self.in_doubt(second);
        match (one, other) {
            (Err(Stop::Exhausted), _) | (_, Err(Stop::Exhausted)) => Err(Stop::Exhausted),
            (Err(Stop::Raised(raised)), Err(Stop::Raised(other))) => {
                self.tell(other.finding);
                Err(Stop::Raised(raised))
            }
            (Err(Stop::Raised(raised)), Ok(flow)) => {
                self.tell(raised.finding);
                Ok(flow)
            }
            (Ok(flow), Err(Stop::Raised(raised))) => {
                self.tell(raised.finding);
                self.heap.restore(&after);
                Ok(flow)
            }
            (Ok(one), Ok(other)) => Ok(self.join_flows(one, after, other)),
        }
    }

    /// Joins the path `one`, which ended with the heap `after`, with the current path.
    fn join_flows(&mut self, one: Flow<'t>, after: Heap<'t>, other: Flow<'t>) -> Flow<'t> {
        match (one, other) {
            (Flow::Next, Flow::Next) => {
                self.heap.join(&after);
                Flow::Next
            }
            (Flow::Return(a), Flow::Return(b)) => {
                self.heap.join(&after);
                Flow::Return(a.join(&b))
            }
            (one, other) if one == other => {
                self.heap.join(&after);
                one
            }
            // Continue on the path that has not ended; remember the ended path.
            (Flow::Next, ended) => {
                let ended_heap = self.heap.restore(&after);
                self.remember(ended, ended_heap);
                Flow::Next
            }
            (ended, Flow::Next) => {
                self.remember(ended, after);
                Flow::Next
            }
            (one, other) => {
                self.remember(one, after);
                other
            }
        }
    }

    /// Remembers a path that may have been taken, with its heap.
    pub fn remember(&mut self, flow: Flow<'t>, heap: Heap<'t>) {
        let Some(frame) = self.frames.last_mut() else { return };
        match (flow, frame.loops.last_mut()) {
            (Flow::Return(value), _) => frame.returned.push((value, heap)),
            (Flow::Break, Some((breaks, _))) => breaks.push(heap),
            (Flow::Continue, Some((_, continues))) => continues.push(heap),
            _ => {}
        }
    }
}
