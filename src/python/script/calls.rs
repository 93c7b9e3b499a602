//! Calls: evaluation of the arguments and resolution of the callee.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{children, field};
use super::machine::{Eval, Machine, Stop};
use super::value::{FunctionKind, Value};

/// Evaluated arguments of a call.
#[derive(Clone, Debug)]
pub struct Args<'t> {
    /// The call.
    pub node: Node<'t>,
    /// Values and expressions of the positional arguments.
    pub positional: Vec<(Value<'t>, Option<Node<'t>>)>,
    /// Names, values and expressions of the keyword arguments.
    pub keywords: Vec<(Rc<str>, Value<'t>, Option<Node<'t>>)>,
    /// Whether `*args` or `**kwargs` may add further arguments.
    pub open: bool,
}

impl<'t> Args<'t> {
    /// Returns an empty list of arguments, for the call `node`.
    pub fn none(node: Node<'t>) -> Self {
        Args { node, positional: vec![], keywords: vec![], open: false }
    }

    /// Returns positional arguments that have values, but no expressions.
    pub fn of(node: Node<'t>, values: Vec<Value<'t>>) -> Self {
        let positional = values.into_iter().map(|value| (value, None)).collect();
        Args { positional, ..Args::none(node) }
    }

    /// Returns an argument by 0-based position or by name.
    pub fn get(&self, position: usize, name: &str) -> Option<&Value<'t>> {
        self.positional.get(position).map(|(value, _)| value).or_else(|| self.keyword(name))
    }

    /// Returns a keyword argument.
    pub fn keyword(&self, name: &str) -> Option<&Value<'t>> {
        self.keywords.iter().find(|(known, ..)| &**known == name).map(|(_, value, _)| value)
    }

    /// Returns the values of the positional arguments.
    pub fn values(&self) -> Vec<Value<'t>> {
        self.positional.iter().map(|(value, _)| value.clone()).collect()
    }

    /// Returns the call with only positional arguments, in the order `names`; `None` if it has others.
    pub fn in_order(&self, names: &[&str]) -> Option<Self> {
        let mut all = Args { keywords: vec![], ..self.clone() };
        for name in &names[self.positional.len().min(names.len())..] {
            let (_, value, node) = self.keywords.iter().find(|(known, ..)| known.as_ref() == *name)?;
            all.positional.push((value.clone(), *node));
            if all.positional.len() == self.positional.len() + self.keywords.len() {
                return Some(all);
            }
        }
        None
    }

    /// Returns the values of a start, an end and a step of which some are passed by name.
    ///
    /// One positional argument is the start if the end is passed by name; without a start, the start is 0.
    pub fn bounds(&self, names: &[&str; 3]) -> Option<Vec<Value<'t>>> {
        let [start, end, step] = names.map(|name| self.keyword(name).cloned());
        let (first, last) = match (self.values().as_slice(), start, end) {
            ([], start, Some(end)) => (start.unwrap_or(Value::Int(0)), end),
            ([start], None, Some(end)) => (start.clone(), end),
            ([end], None, None) => (Value::Int(0), end.clone()),
            ([start, end], None, None) => (start.clone(), end.clone()),
            _ => return None,
        };
        Some(vec![first, last, step.unwrap_or(Value::Int(1))])
    }

    /// Returns the values of all arguments.
    pub fn all(&self) -> impl Iterator<Item = &Value<'t>> {
        let keywords = self.keywords.iter().map(|(_, value, _)| value);
        self.positional.iter().map(|(value, _)| value).chain(keywords)
    }
}

impl<'t> Machine<'t> {
    /// Evaluates a call.
    pub fn call(&mut self, node: Node<'t>) -> Eval<'t> {
        let Some(function) = field(node, "function") else { return Ok(Value::Unknown) };
        if function.kind() == "identifier" && self.text(function) == "super" {
            return self.super_object(node);
        }
        let callee = self.evaluate(function)?;
        let args = self.arguments(node)?;
        if callee == Value::Unknown
            && let Some(result) = self.unknown_method(function, &args)?
        {
            return Ok(result);
        }
        let result = self.invoke(&callee, &args)?;
        self.note_sizes(function, &args, &result);
        self.rebind_receiver(function, &callee, &result)?;
        Ok(result)
    }

    /// Evaluates the arguments of a call.
    pub fn arguments(&mut self, node: Node<'t>) -> Result<Args<'t>, Stop> {
        let mut args = Args::none(node);
        let Some(list) = field(node, "arguments") else { return Ok(args) };
        if list.kind() == "generator_expression" {
            let value = self.evaluate(list)?;
            args.positional.push((value, Some(list)));
            return Ok(args);
        }
        for child in children(list) {
            match child.kind() {
                "keyword_argument" => {
                    let value = field(child, "value");
                    let name = field(child, "name").map_or("", |name| self.text(name));
                    let evaluated = self.evaluate_optional(value)?;
                    args.keywords.push((Rc::from(name), evaluated, value));
                }
                "list_splat" => {
                    let inner = self.evaluate_optional(children(child).first().copied())?;
                    match self.items(&inner) {
                        Some(items) if !args.open => {
                            args.positional.extend(items.into_iter().map(|item| (item, Some(child))));
                        }
                        _ => args.open = true,
                    }
                }
                "dictionary_splat" => {
                    let inner = self.evaluate_optional(children(child).first().copied())?;
                    self.spread_keywords(&inner, child, &mut args);
                }
                "ERROR" => args.open = true,
                _ => {
                    let value = self.evaluate(child)?;
                    args.positional.push((value, Some(child)));
                }
            }
        }
        Ok(args)
    }

    fn spread_keywords(&mut self, inner: &Value<'t>, node: Node<'t>, args: &mut Args<'t>) {
        let dict = inner.object().and_then(|object| self.heap.dict(object)).cloned();
        let Some(dict) = dict else {
            args.open = true;
            return;
        };
        args.open |= dict.open;
        for (key, value) in dict.entries {
            match key {
                Value::Str(name) => args.keywords.push((name, value, Some(node))),
                _ => args.open = true,
            }
        }
    }

    /// Calls a value.
    pub fn invoke(&mut self, callee: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        self.enter()?;
        let result = self.invoke_any(callee, args);
        self.leave();
        result
    }

    fn invoke_any(&mut self, callee: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        match callee {
            Value::Function(function) => self.call_function(&function.clone(), None, args),
            Value::Bound(bound) => {
                let (this, function) = (**bound).clone();
                let this = (function.kind != FunctionKind::Static).then_some(this);
                self.call_function(&function, this, args)
            }
            Value::Name(path) => {
                self.note_library_writes(path, args);
                let result = self.library_call(&path.clone(), args)?;
                Ok(self.deviate(path, None, args, result))
            }
            Value::Method(method) => {
                let (object, name) = (**method).clone();
                self.method(&object, &name, args)
            }
            Value::Object(object) => self.call_object(*object, args),
            _ => {
                self.havoc(args);
                Ok(Value::Unknown)
            }
        }
    }

    /// Forgets the state of the objects that are passed to an unknown function.
    pub fn havoc(&mut self, args: &Args<'t>) {
        self.forget_files(args);
        let all: Vec<Value<'t>> = args.all().cloned().collect();
        for value in all {
            self.forget(&value);
        }
    }
}
