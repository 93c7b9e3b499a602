//! Loops over generators of the script: the body of the loop runs where the generator yields.

use tree_sitter::Node;

use super::super::syntax::{children, field};
use super::machine::{Eval, Machine, Raised, Stop};
use super::statements::{Flow, Step};
use super::value::{FunctionKind, Value};
use super::yields::{Body, ENDED, MAX_ITEMS, Yields, is_generator};

impl<'t> Machine<'t> {
    /// Runs a `for` loop over the call of a generator; `None` for other loops.
    pub fn generator_loop(
        &mut self,
        left: Node<'t>,
        right: Node<'t>,
        body: Option<Node<'t>>,
        otherwise: Option<Node<'t>>,
    ) -> Option<Step<'t>> {
        let (call, counter) = match self.argument_of(right, &["enumerate"]) {
            Some(call) => (call, Some(0)),
            None => (self.argument_of(right, &["tqdm", "tqdm.tqdm", "track"]).unwrap_or(right), None),
        };
        let callee = self.called(call)?;
        let function = match &callee {
            Value::Function(function) => function.clone(),
            Value::Bound(bound) if bound.1.kind != FunctionKind::Property => bound.1.clone(),
            _ => return None,
        };
        if !is_generator(function.node) || !function.contexts.is_empty() {
            return None;
        }
        let args = match self.arguments(call) {
            Ok(args) => args,
            Err(stop) => return Some(Err(stop)),
        };
        self.begin_loop();
        let body = Body { left, body, counter, doubt: self.doubt, count: 0 };
        self.entering = Some(Yields::Loop(Box::new(body)));
        self.left_loop = None;
        let result = self.invoke(&callee, &args);
        self.entering = None;
        let ended = match (self.left_loop.take(), result) {
            (Some(ended), Ok(_)) => ended,
            (Some(ended), Err(Stop::Raised(raised))) if raised.kind == ENDED => ended,
            (_, Err(Stop::Raised(raised))) if raised.kind == ENDED => Ok(Flow::Break),
            (_, result) => result.map(|_| Flow::Next),
        };
        Some(self.end_loop(ended, otherwise))
    }

    /// Returns the only argument of a call of one of these functions.
    fn argument_of(&self, node: Node<'t>, names: &[&str]) -> Option<Node<'t>> {
        let function = field(node, "function").filter(|_| node.kind() == "call")?;
        let arguments = children(field(node, "arguments")?);
        match arguments[..] {
            [only] if names.contains(&self.text(function)) && only.kind() == "call" => Some(only),
            _ => None,
        }
    }

    /// Returns the function that a call names, without running code.
    pub fn called(&mut self, call: Node<'t>) -> Option<Value<'t>> {
        let name = field(call, "function").filter(|_| call.kind() == "call")?;
        let is_plain = |letter: char| letter.is_alphanumeric() || letter == '.' || letter == '_';
        match name.kind() {
            "identifier" => Some(self.variable(self.text(name))),
            _ if self.text(name).chars().all(is_plain) => {
                self.quiet += 1;
                let callee = self.evaluate(name).unwrap_or_default();
                self.quiet -= 1;
                Some(callee)
            }
            _ => None,
        }
    }

    /// Runs the body of the loop over the generator of the current frame, for each of `items`.
    pub fn run_loop_body(&mut self, items: Option<Vec<Value<'t>>>) -> Eval<'t> {
        match items {
            Some(items) => {
                for item in items {
                    self.run_loop_turn(item)?;
                }
            }
            None => {
                for _ in 0..2 {
                    let turn = |machine: &mut Self| machine.run_loop_turn(Value::Unknown).map(|_| Flow::Next);
                    self.either(turn, |_| Ok(Flow::Next))?;
                }
            }
        }
        Ok(Value::None)
    }

    fn run_loop_turn(&mut self, item: Value<'t>) -> Eval<'t> {
        let Some(mut frame) = self.frames.pop() else { return Ok(Value::Unknown) };
        let Some(Yields::Loop(mut state)) = frame.yields.take() else { return Ok(Value::Unknown) };
        state.count += 1;
        let is_last = state.count >= MAX_ITEMS;
        // The generator may have returned before.
        let may_have_left = !frame.returned.is_empty()
            || frame.loops.iter().any(|(breaks, continues)| !breaks.is_empty() || !continues.is_empty());
        let item = match &mut state.counter {
            Some(at) if self.doubt == state.doubt => {
                *at += 1;
                Value::tuple(vec![Value::Int(*at - 1), item])
            }
            Some(_) => Value::tuple(vec![Value::Unknown, item]),
            None => item,
        };
        let (left, body) = (state.left, state.body);
        let turn = |machine: &mut Self| {
            machine.assign(left, item.clone())?;
            body.map_or(Ok(Flow::Next), |body| machine.block(body))
        };
        let flow = match may_have_left || is_last {
            true => self.either(turn, |_| Ok(Flow::Next)),
            false => turn(self),
        };
        self.join_continued();
        let is_certain = self.doubt == state.doubt;
        let end = || Err(Stop::Raised(Box::new(Raised { kind: ENDED.to_owned(), finding: None })));
        let result = match flow {
            Ok(Flow::Next | Flow::Continue) if is_last => end(),
            Ok(Flow::Next | Flow::Continue) => Ok(Value::None),
            Err(Stop::Exhausted) => Err(Stop::Exhausted),
            // Handlers of the generator do not see exceptions of the loop.
            ended if is_certain => {
                self.left_loop = Some(ended);
                end()
            }
            Ok(flow) => {
                let heap = self.heap.snapshot();
                self.remember(flow, heap);
                end()
            }
            Err(Stop::Raised(raised)) => {
                self.tell(raised.finding);
                end()
            }
        };
        frame.yields = Some(Yields::Loop(state));
        self.frames.push(frame);
        result
    }
}
