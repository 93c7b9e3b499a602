//! Functions of the script: their values, and the binding of arguments to parameters.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{children, field};
use super::calls::Args;
use super::generators::CONTEXT;
use super::heap::Items;
use super::machine::{Eval, Machine, Raised, Stop};
use super::statements::Flow;
use super::value::{Function, FunctionKind, Value};
use super::yields::{Yields, is_generator};

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'t> {
    pub name: &'t str,
    /// Expression of the default.
    pub default: Option<Node<'t>>,
    pub annotation: Option<Node<'t>>,
    pub kind: ParameterKind,
}

/// Kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    Positional,
    KeywordOnly,
    /// `*args`
    Rest,
    /// `**kwargs`
    Keywords,
}

/// Decorators that are assumed not to change the behavior of a function.
const NEUTRAL: [&str; 18] = [
    "enable_grad",
    "wraps",
    "override",
    "abstractmethod",
    "lru_cache",
    "cache",
    "ignore",
    "unused",
    "export",
    "profile",
    "main",
    "command",
    "record",
    "typechecked",
    "jaxtyped",
    "final",
    "option",
    "argument",
];

impl<'t> Machine<'t> {
    /// Returns a function, from its definition and its decorators.
    ///
    /// Returns `Unknown` if a decorator may change the behavior of the function.
    pub fn function(&mut self, node: Node<'t>, decorators: &[Node<'t>]) -> Value<'t> {
        let name = field(node, "name").map_or("<lambda>", |name| self.text(name));
        let Some(frame) = self.frames.last() else { return Value::Unknown };
        let (file, mut scope) = (frame.file, frame.scope);
        let mut kind = FunctionKind::Plain;
        let mut contexts = vec![];
        for decorator in decorators {
            let path = self.text(*decorator).trim_start_matches('@').trim();
            let path = path.split('(').next().unwrap_or(path);
            match path.rsplit('.').next().unwrap_or(path) {
                "staticmethod" => kind = FunctionKind::Static,
                "classmethod" => kind = FunctionKind::OfClass,
                "property" | "cached_property" => kind = FunctionKind::Property,
                "no_grad" | "inference_mode" | "autocast" => {
                    let context = children(*decorator).first().map(|context| self.evaluate(*context));
                    contexts.push(context.and_then(Result::ok).unwrap_or_default());
                }
                "contextmanager" => contexts.push(Value::name(CONTEXT)),
                last if NEUTRAL.contains(&last) => {}
                _ => return Value::Unknown,
            }
        }
        // The variables of a class body are not visible in its methods.
        let class = self.class_body(scope);
        if class.is_some() {
            scope = self.heap.scope(scope).and_then(|scope| scope.parent).unwrap_or(scope);
        }
        let mut defaults = vec![];
        for parameter in self.parameters(node) {
            if let Some(default) = parameter.default {
                defaults.push((parameter.name, self.evaluate(default).unwrap_or_default()));
            }
        }
        Value::Function(Rc::new(Function { name, node, file, scope, class, defaults, kind, contexts }))
    }

    /// Runs the definition of a decorated function or class.
    pub fn decorated(&mut self, node: Node<'t>) -> Result<(), Stop> {
        let Some(definition) = field(node, "definition") else { return Ok(()) };
        let decorators: Vec<Node<'t>> =
            children(node).into_iter().filter(|child| child.kind() == "decorator").collect();
        let value = match definition.kind() {
            "class_definition" => self.decorated_class(definition, decorators)?,
            _ => self.decorated_function(definition, decorators)?,
        };
        if let Some(name) = field(definition, "name") {
            self.set_variable(self.text(name), value);
        }
        Ok(())
    }

    /// Runs the definition of a class, and the functions of the script that decorate it.
    fn decorated_class(&mut self, definition: Node<'t>, decorators: Vec<Node<'t>>) -> Eval<'t> {
        let (own, others) = self.own_decorators(decorators);
        let mut class = self.class_definition(definition, &others)?;
        for function in own.into_iter().rev() {
            class = self.invoke(&function, &Args::of(definition, vec![class]))?;
        }
        Ok(class)
    }

    /// Runs the definition of a function, and the functions of the script that decorate it.
    fn decorated_function(&mut self, definition: Node<'t>, decorators: Vec<Node<'t>>) -> Eval<'t> {
        let (own, others) = self.own_decorators(decorators);
        let mut function = self.function(definition, &others);
        if let Some(command) = self.command(&function, &others)? {
            // A decorator of the script may add options.
            return Ok(if own.is_empty() { command } else { Value::Unknown });
        }
        for decorator in own.into_iter().rev() {
            function = match &function {
                Value::Function(plain) if plain.kind == FunctionKind::Plain => {
                    self.invoke(&decorator, &Args::of(definition, vec![function]))?
                }
                _ => Value::Unknown,
            };
        }
        Ok(function)
    }

    /// Separates decorators into functions that the script defines, and others.
    fn own_decorators(&mut self, decorators: Vec<Node<'t>>) -> (Vec<Value<'t>>, Vec<Node<'t>>) {
        let (mut own, mut others) = (vec![], vec![]);
        for decorator in decorators {
            match self.own_decorator(decorator) {
                Some(function) => own.push(function),
                None => others.push(decorator),
            }
        }
        (own, others)
    }

    /// Returns the function of `@register` or `@register("name")`, if the script defines it.
    fn own_decorator(&mut self, decorator: Node<'t>) -> Option<Value<'t>> {
        let expression = children(decorator).first().copied()?;
        let name = field(expression, "function").unwrap_or(expression);
        if !matches!(self.variable(self.text(name)), Value::Function(_)) {
            return None;
        }
        self.evaluate(expression).ok().filter(|value| matches!(value, Value::Function(_)))
    }

    /// Returns the parameters of a function or lambda.
    pub fn parameters(&self, function: Node<'t>) -> Vec<Parameter<'t>> {
        let mut kind = ParameterKind::Positional;
        let mut found = vec![];
        for node in field(function, "parameters").map(children).unwrap_or_default() {
            match node.kind() {
                "keyword_separator" => kind = ParameterKind::KeywordOnly,
                "list_splat_pattern" | "dictionary_splat_pattern" => {
                    found.push(self.rest(node, node));
                    kind = ParameterKind::KeywordOnly;
                }
                "typed_parameter" => {
                    let inner = children(node).first().copied().unwrap_or(node);
                    if inner.kind() == "identifier" {
                        let annotation = field(node, "type");
                        found.push(Parameter { name: self.text(inner), default: None, annotation, kind });
                    } else {
                        found.push(self.rest(inner, node));
                        kind = ParameterKind::KeywordOnly;
                    }
                }
                "identifier" => {
                    found.push(Parameter { name: self.text(node), default: None, annotation: None, kind });
                }
                "default_parameter" | "typed_default_parameter" => {
                    let name = field(node, "name").map_or("", |name| self.text(name));
                    let (default, annotation) = (field(node, "value"), field(node, "type"));
                    found.push(Parameter { name, default, annotation, kind });
                }
                _ => {}
            }
        }
        found
    }

    fn rest(&self, pattern: Node<'t>, whole: Node<'t>) -> Parameter<'t> {
        let name = children(pattern).first().map_or("", |name| self.text(*name));
        let kind = match pattern.kind() {
            "list_splat_pattern" => ParameterKind::Rest,
            _ => ParameterKind::Keywords,
        };
        Parameter { name, default: None, annotation: field(whole, "type"), kind }
    }

    /// Returns the parameters of a function, which may be in a file other than the current one.
    ///
    /// Returns `None` if too many calls are active.
    pub fn parameters_in(&mut self, function: &Rc<Function<'t>>) -> Option<Vec<Parameter<'t>>> {
        let scope = function.scope;
        self.push(function.file, scope, Some(function.clone()), None, None).ok()?;
        let parameters = self.parameters(function.node);
        self.frames.pop();
        Some(parameters)
    }

    /// Calls a function of the script. `this` is the object of a method.
    pub fn call_function(
        &mut self,
        function: &Rc<Function<'t>>,
        this: Option<Value<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let recursion = self.frames.iter().filter(|frame| frame.function.as_ref() == Some(function)).count();
        if recursion > MAX_RECURSION {
            return Ok(Value::Unknown);
        }
        let mut entering = self.entering.take();
        if Self::is_context_function(function) && entering.is_none() {
            self.havoc(args);
            return Ok(Value::Unknown);
        }
        let generator = is_generator(function.node);
        if generator && entering.is_none() && self.is_first_read(args.node) {
            entering = Some(Yields::First(None, self.doubt));
        }
        if generator && entering.is_none() && !self.runs_at_once(args.node) {
            return self.evaluate_later(|machine| {
                let list = Yields::Items(Items::default(), machine.doubt);
                machine.entering = Some(list);
                machine.call_function(function, this, args)
            });
        }
        let scope = self.inner_scope(Some(function.scope));
        let call = Some((self.file(), args.node));
        if function.name == "forward" && self.reads.is_none() && !self.examples.is_empty() {
            self.reads = Some((scope, Default::default()));
        }
        // A method that is called as a function gets its object as the first argument.
        let first = args.positional.first().map(|(value, _)| value.clone());
        let is_method = function.class.is_some() && function.kind == FunctionKind::Plain;
        let receiver = this.clone().or_else(|| first.filter(|_| is_method));
        let caller = self.frame_id();
        self.push(function.file, scope, Some(function.clone()), receiver, call)?;
        if let Some(frame) = self.frames.last_mut().filter(|_| generator) {
            frame.yields = entering.or(Some(Yields::Items(Items::default(), self.doubt)));
        }
        self.trace_call(function, caller, args.node);
        self.coverage.enter(function.file, function.node);
        let active = self.contexts.len();
        self.contexts.extend(function.contexts.iter().cloned());
        let result = self.bind(function, this, args).and_then(|()| self.body(function));
        self.contexts.truncate(active);
        let (paths, yields) =
            self.frames.pop().map(|frame| (frame.returned, frame.yields)).unwrap_or_default();
        if let Some(Yields::Done(done)) = yields {
            self.entered = Some(done);
            return result.map(|_| Value::Unknown);
        }
        if let Some(Yields::Loop(_)) = yields {
            for (_, heap) in paths {
                self.heap.join(&heap);
            }
            return result;
        }
        if generator {
            return self.generated(yields, result, !paths.is_empty());
        }
        match result {
            Ok(value) => {
                let mut value = value;
                for (other, heap) in paths {
                    self.heap.join(&heap);
                    value = value.join(&other);
                }
                Ok(value)
            }
            // Other execution paths returned before the exception, so the call may return.
            Err(Stop::Raised(raised)) if !paths.is_empty() => {
                self.tell(raised.finding);
                let mut value = None;
                for (other, heap) in paths {
                    value = Some(match value {
                        None => {
                            self.heap.restore(&heap);
                            other
                        }
                        Some(known) => {
                            self.heap.join(&heap);
                            Value::join(known, &other)
                        }
                    });
                }
                Ok(value.unwrap_or_default())
            }
            Err(stop) => Err(stop),
        }
    }

    fn body(&mut self, function: &Function<'t>) -> Eval<'t> {
        let Some(body) = field(function.node, "body") else { return Ok(Value::Unknown) };
        if function.node.kind() == "lambda" {
            return self.evaluate(body);
        }
        Ok(match self.block(body)? {
            Flow::Return(value) => value,
            _ => Value::None,
        })
    }

    /// Binds arguments to the parameters, in the frame of the function.
    fn bind(
        &mut self,
        function: &Function<'t>,
        this: Option<Value<'t>>,
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        let mut given = args.positional.iter().map(|(value, _)| value.clone());
        let mut given: Vec<Value<'t>> = this.into_iter().chain(&mut given).collect();
        let mut keywords: Vec<(Rc<str>, Value<'t>)> =
            args.keywords.iter().map(|(name, value, _)| (name.clone(), value.clone())).collect();
        let parameters = self.parameters(function.node);
        given.reverse();
        let mut missing = None;
        for parameter in &parameters {
            let value = match parameter.kind {
                ParameterKind::Rest if args.open => {
                    given.clear();
                    Value::Unknown
                }
                ParameterKind::Rest => Value::tuple(given.drain(..).rev().collect()),
                ParameterKind::Keywords => {
                    let entries = keywords.drain(..).map(|(name, value)| (Value::Str(name), value)).collect();
                    self.dict(entries, args.open)
                }
                kind => {
                    let by_position = (kind == ParameterKind::Positional).then(|| given.pop()).flatten();
                    let at = keywords.iter().position(|(name, _)| &**name == parameter.name);
                    let by_name = at.map(|at| keywords.remove(at).1);
                    let default = function.defaults.iter().find(|(name, _)| *name == parameter.name);
                    let default = default.map(|(_, value)| value.clone());
                    match by_position.or(by_name).or(if args.open { Some(Value::Unknown) } else { default }) {
                        Some(value) => value,
                        None => {
                            missing.get_or_insert(parameter.name);
                            Value::Unknown
                        }
                    }
                }
            };
            self.set_variable(parameter.name, value);
        }
        let extra = !given.is_empty() || !keywords.is_empty();
        if !args.open && (missing.is_some() || extra) {
            let finding = self.arguments_fault(function, missing, &keywords, given.len(), args);
            return Err(Stop::Raised(Box::new(Raised { kind: "TypeError".to_owned(), finding })));
        }
        Ok(())
    }
}

/// Maximum recursion depth of one function.
const MAX_RECURSION: usize = 4;
