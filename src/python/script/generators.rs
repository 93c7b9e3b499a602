//! Generators, and the contexts that `contextlib.contextmanager` makes of them.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{children, field, text, within};
use super::calls::Args;
use super::files::ScriptFile;
use super::heap::Object;
use super::library::EXIT_STACK;
use super::machine::{Eval, Machine, Raised, Stop};
use super::statements::{Flow, Step};
use super::value::{Function, Value};
use super::yields::{ENDED, MAX_ITEMS, Yields};

/// Decorator that makes a context of a generator.
pub const CONTEXT: &str = "contextlib.contextmanager";

impl<'t> Machine<'t> {
    /// Evaluates `yield`.
    pub fn yielded(&mut self, node: Node<'t>) -> Eval<'t> {
        let expression = children(node).into_iter().find(|child| child.kind() != "from");
        let value = expression.map_or(Ok(Value::None), |expression| self.evaluate(expression))?;
        let is_from = self.text(node).trim_start_matches("yield").trim_start().starts_with("from ");
        let doubt = self.doubt;
        let many = if is_from { Some(self.iterated(&value)) } else { None };
        // A list may change after it was yielded.
        let value = match &value {
            Value::Object(object) => match self.heap.get(*object).clone() {
                copy @ (Object::List(_) | Object::Dict(_)) => Value::Object(self.heap.add(copy)),
                _ => value,
            },
            _ => value,
        };
        let Some(frame) = self.frames.last_mut() else { return Ok(Value::Unknown) };
        match &mut frame.yields {
            Some(Yields::Items(items, start)) => {
                match many {
                    None => items.items.push(value),
                    Some(Some(more)) => items.items.extend(more),
                    Some(None) => items.open = true,
                }
                items.open |= doubt > *start;
                if items.items.len() >= MAX_ITEMS {
                    items.open = true;
                    return Err(Stop::Raised(Box::new(Raised { kind: ENDED.to_owned(), finding: None })));
                }
                Ok(Value::Unknown)
            }
            Some(Yields::First(first, start)) => {
                let value = many.map_or(Some(value), |many| many?.into_iter().next());
                *first = Some(value.filter(|_| doubt == *start).unwrap_or_default());
                Err(Stop::Raised(Box::new(Raised { kind: ENDED.to_owned(), finding: None })))
            }
            Some(Yields::Loop(_)) => self.run_loop_body(many.unwrap_or_else(|| Some(vec![value]))),
            Some(Yields::Body(..)) => self.run_context(value),
            _ => Ok(Value::Unknown),
        }
    }

    /// Runs the body of the `with` statement that entered the current frame.
    fn run_context(&mut self, value: Value<'t>) -> Eval<'t> {
        let Some(mut frame) = self.frames.pop() else { return Ok(Value::Unknown) };
        let Some(Yields::Body(with, next, target)) = frame.yields.take() else { return Ok(Value::Unknown) };
        let bound = target.map_or(Ok(()), |target| self.assign(target, value));
        let ended = bound.and_then(|()| self.with_items(with, next));
        let (done, result) = match ended {
            Ok(flow) => (flow, Ok(Value::None)),
            Err(stop) => (Flow::Next, Err(stop)),
        };
        frame.yields = Some(Yields::Done(done));
        self.frames.push(frame);
        result
    }

    /// Runs a `with` statement from the item `at` on, if that is a call of a context of the script.
    ///
    /// Returns `None` for other items.
    pub fn with_generator(&mut self, node: Node<'t>, at: usize, item: Node<'t>) -> Option<Step<'t>> {
        let value = field(item, "value")?;
        let (call, target) = match value.kind() {
            "as_pattern" => {
                let target = field(value, "alias").and_then(|alias| children(alias).first().copied());
                (*children(value).first()?, target)
            }
            _ => (value, None),
        };
        let is_context = |value: &Value<'t>| match value {
            Value::Function(function) => Self::is_context_function(function),
            Value::Bound(bound) => Self::is_context_function(&bound.1),
            _ => false,
        };
        let callee = self.called(call)?;
        if !is_context(&callee) {
            return None;
        }
        let args = match self.arguments(call) {
            Ok(args) => args,
            Err(stop) => return Some(Err(stop)),
        };
        self.entering = Some(Yields::Body(node, at + 1, target));
        self.entered = None;
        let result = self.invoke(&callee, &args);
        self.entering = None;
        let flow = self.entered.take().unwrap_or(Flow::Next);
        Some(result.map(|_| flow))
    }

    /// Enters a context. Returns the value that `with … as x` binds.
    pub fn enter_context(&mut self, context: &Value<'t>, node: Node<'t>) -> Eval<'t> {
        match self.context_method(context, "__enter__") {
            Some(enter) => self.call_function(&enter, Some(context.clone()), &Args::none(node)),
            None => Ok(self.entered(context)),
        }
    }

    /// Leaves a context without an exception.
    pub fn leave_context(&mut self, context: &Value<'t>, node: Node<'t>) -> Result<(), Stop> {
        let Some(leave) = self.context_method(context, "__exit__") else { return Ok(()) };
        let args = Args::of(node, vec![Value::None; 3]);
        self.call_function(&leave, Some(context.clone()), &args).map(drop)
    }

    /// Returns true if a context may end an exception in its body.
    pub fn may_swallow(&self, context: &Value<'t>) -> bool {
        let instance = context.object().and_then(|object| self.heap.instance(object));
        let Some(class) = instance.and_then(|instance| instance.class.object()) else {
            let is_stack = instance.is_some_and(|instance| instance.class.path() == Some(EXIT_STACK));
            return (is_stack || instance.is_none()) && self.files.iter().any(ScriptFile::may_swallow);
        };
        let Some(leave) = self.context_method(context, "__exit__") else {
            return self.library_bases(&Value::Object(class)).iter().any(|base| base.path().is_none());
        };
        let source = self.source(leave.file);
        let returns = |node: &Node<'t>| {
            let value = children(*node).first().map_or("None", |value| text(*value, source));
            node.kind() == "return_statement" && value != "None" && value != "False"
        };
        field(leave.node, "body").is_none_or(|body| within(body).iter().any(returns))
    }

    /// Returns a method of a context, if its class is in the script.
    fn context_method(&self, context: &Value<'t>, name: &str) -> Option<Rc<Function<'t>>> {
        let class = self.heap.instance(context.object()?)?.class.object()?;
        match self.class_attribute(class, name, None) {
            Ok(Value::Function(function)) => Some(function),
            _ => None,
        }
    }

    /// Returns true for a function that `contextmanager` decorates.
    pub fn is_context_function(function: &Function<'t>) -> bool {
        function.contexts.iter().any(|context| context.path() == Some(CONTEXT))
    }

    /// Returns the result of a generator that ended with `result`.
    pub fn generated(&mut self, yields: Option<Yields<'t>>, result: Eval<'t>, is_partial: bool) -> Eval<'t> {
        let mut items = match yields {
            Some(Yields::Items(items, _)) => items,
            Some(Yields::First(Some(first), _)) => {
                return Ok(self.list(if first == Value::Unknown { vec![] } else { vec![first] }));
            }
            _ => return result.map(|_| Value::Unknown),
        };
        match result {
            Ok(_) => items.open |= is_partial,
            Err(Stop::Raised(raised)) if raised.kind == ENDED => items.open = true,
            Err(stop) => return Err(stop),
        }
        if items.open {
            return Ok(self.open_list());
        }
        Ok(self.list(items.items))
    }
}
