//! State of the abstract interpreter: a stack of frames, one for each active function.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::diag::Finding;

use super::import_context::{Definition, ImportContext, Visit};
use super::parameters::{Guess, Parameter, guess, is_list_of_others, parameters};
use super::program::{Global, LAMBDA, Program};
use super::syntax::{children, field};
use super::value::{Identity, Origin, Tensor, Value};

/// Maximum number of nested calls.
const MAX_FRAMES: usize = 12;

/// Maximum number of evaluated calls for each [`Interpreter`], which bounds the run time.
const MAX_CALLS: u32 = 20_000;

/// Maximum number of nested expressions.
pub const MAX_DEPTH: u32 = 150;

/// Stack frame of a function.
#[derive(Debug)]
pub struct Frame<'t> {
    /// Index of the function; `None` for the top level of the file.
    pub function: Option<usize>,
    /// Class of `self`, by its index in the program.
    pub class: Option<usize>,
    /// Body of the function.
    pub body: Node<'t>,
    /// Values of the local variables.
    pub variables: FxHashMap<&'t str, Value>,
    /// Join of the values returned so far.
    pub returned: Option<Value>,
    /// The current statement.
    pub statement: Node<'t>,
}

/// Functions through which a piece of code was reached, on any call path.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// Functions that were active on any of the paths, including the one that contains the code.
    pub functions: BTreeSet<usize>,
    /// Functions at the bottom of the stack on any of the paths, where evaluation started.
    pub roots: BTreeSet<usize>,
}

/// Abstract interpreter of one file.
pub struct Interpreter<'t> {
    /// Text of the file.
    pub source: &'t str,
    /// Path of the file in findings.
    pub file: Arc<str>,
    /// Definitions of the file.
    pub program: &'t Program<'t>,
    /// Values of the variables at the top level.
    pub globals: FxHashMap<&'t str, Value>,
    /// Attributes set by class bodies and `__init__` methods, by class.
    pub attributes: FxHashMap<usize, Rc<FxHashMap<&'t str, Value>>>,
    /// Attributes set by the code that is being evaluated, by class and name.
    pub changed: FxHashMap<(usize, &'t str), Value>,
    /// Stack of active functions.
    pub frames: Vec<Frame<'t>>,
    /// Number of enclosing expressions of the current one in its function.
    pub depth: u32,
    /// If above 0, nothing is reported.
    pub quiet: u32,
    /// If above 0, findings have at most level info.
    ///
    /// The code needs labels for training, or only decides whether other code raises.
    pub checks: u32,
    identities: Identity,
    /// Identity of each size that was read from a shape, by shape and index.
    sizes: FxHashMap<(Identity, i64), Identity>,
    /// For each size in `sizes`, the shape that it was read from.
    shapes: FxHashMap<Identity, Identity>,
    /// Sizes that may be fractional, such as half of a size.
    fractions: FxHashSet<Identity>,
    calls: u32,
    known_calls: FxHashMap<String, Value>,
    /// Whether each function was evaluated while findings were reported.
    pub reached: Vec<bool>,
    /// Findings so far.
    pub findings: Vec<Finding>,
    /// For each finding, the functions through which its code was reached.
    pub within: Vec<Reached>,
    /// Access to other files, if they may be followed.
    pub abroad: Option<ImportContext<'t>>,
    /// Results of calls into other files, by callee and values of the arguments.
    pub visits: FxHashMap<String, Visit>,
    /// Definitions in other files, by path; `None` if no definition was found.
    pub definitions: FxHashMap<String, Option<Definition>>,
}

impl<'t> Interpreter<'t> {
    /// Returns an interpreter that has evaluated the top level of the file.
    pub fn new(source: &'t str, file: Arc<str>, program: &'t Program<'t>, root: Node<'t>) -> Self {
        let mut interpreter = Interpreter {
            source,
            file,
            program,
            globals: FxHashMap::default(),
            attributes: FxHashMap::default(),
            changed: FxHashMap::default(),
            frames: vec![],
            depth: 0,
            quiet: 0,
            checks: 0,
            identities: 0,
            sizes: FxHashMap::default(),
            shapes: FxHashMap::default(),
            fractions: FxHashSet::default(),
            calls: 0,
            known_calls: FxHashMap::default(),
            reached: vec![false; program.functions.len()],
            findings: vec![],
            within: vec![],
            abroad: None,
            visits: FxHashMap::default(),
            definitions: FxHashMap::default(),
        };
        interpreter.run_globals(root);
        interpreter
    }

    /// Evaluates expressions and `if` statements at the top level, which may assign variables.
    fn run_globals(&mut self, root: Node<'t>) {
        self.quiet += 1;
        self.frames.push(Frame {
            function: None,
            class: None,
            body: root,
            variables: FxHashMap::default(),
            returned: None,
            statement: root,
        });
        let assigns = |child: &Node| matches!(child.kind(), "expression_statement" | "if_statement");
        for statement in children(root).into_iter().filter(assigns) {
            self.statement(statement);
        }
        self.globals = self.frames.pop().map(|frame| frame.variables).unwrap_or_default();
        self.quiet -= 1;
    }

    /// Evaluates the function `index` as an entry point, with guessed parameters.
    pub fn run_root(&mut self, index: usize) {
        let function = &self.program.functions[index];
        let is_static = function.decorators.iter().any(|decorator| decorator.ends_with("staticmethod"));
        self.run_guessed(index, function.class.filter(|_| !is_static));
    }

    /// Evaluates the method `index` as an entry point of `class`, which may inherit it.
    pub fn run_method(&mut self, index: usize, class: usize) {
        self.run_guessed(index, Some(class));
    }

    fn run_guessed(&mut self, index: usize, class: Option<usize>) {
        self.changed.clear();
        let node = self.program.functions[index].node;
        let mut values = Vec::new();
        for (position, parameter) in parameters(node, self.source).iter().enumerate() {
            let value = match class {
                Some(class) if position == 0 => Value::Instance(class),
                _ => self.guessed(parameter, node),
            };
            values.push((parameter.name, value));
        }
        let is_of_training = self.is_of_training(node);
        self.checks += u32::from(is_of_training);
        self.run(index, class, values);
        self.checks -= u32::from(is_of_training);
    }

    fn guessed(&mut self, parameter: &Parameter<'t>, function: Node<'t>) -> Value {
        let identity = self.identity();
        let tensor = |sure| Tensor { sure, ..Tensor::new(Origin::Input, identity) };
        match guess(parameter, function, self.source) {
            Guess::Tensor => Value::Tensor(tensor(true)),
            Guess::Presumed => Value::Tensor(tensor(false)),
            Guess::Tensors => Value::Each(Box::new(Value::Tensor(tensor(true)))),
            Guess::Mapping => Value::Mapping(Box::new(Value::Tensor(tensor(true)))),
            Guess::Number => Value::Number(None),
            Guess::Bool => Value::Bool(None),
            Guess::Str => Value::Str,
            Guess::Unknown => Value::Unknown,
        }
    }

    /// Evaluates a call of a function of the file.
    pub fn enter(
        &mut self,
        index: usize,
        class: Option<usize>,
        arguments: Vec<Value>,
        keywords: &[(&'t str, Value)],
    ) -> Value {
        let function = &self.program.functions[index];
        let on_stack = self.frames.iter().any(|frame| frame.function == Some(index));
        let scripted = self.program.is_scripted(index);
        if on_stack || scripted || self.frames.len() >= MAX_FRAMES || self.calls >= MAX_CALLS {
            return Value::Unknown;
        }
        let key = self.call_key(index, class, &arguments, keywords);
        if let Some(known) = self.known_calls.get(&key).cloned() {
            return self.afresh(known);
        }
        let values = self.bind(function.node, arguments, keywords);
        let returned = self.run(index, class, values);
        self.known_calls.insert(key, returned.clone());
        returned
    }

    /// Returns the cache key of a call: function, arguments without identities, and reporting state.
    fn call_key(
        &self,
        index: usize,
        class: Option<usize>,
        arguments: &[Value],
        keywords: &[(&'t str, Value)],
    ) -> String {
        let plain = |value: &Value| {
            let mut value = value.clone();
            value.renumber(&mut |_| 0);
            value
        };
        let arguments: Vec<Value> = arguments.iter().map(plain).collect();
        let keywords: Vec<(&str, Value)> =
            keywords.iter().map(|(name, value)| (*name, plain(value))).collect();
        format!("{} {} {index} {class:?} {arguments:?} {keywords:?}", self.quiet > 0, self.checks > 0)
    }

    /// Returns the value with new identities, because results of two calls do not share objects.
    pub fn afresh(&mut self, mut value: Value) -> Value {
        let mut renamed: FxHashMap<Identity, Identity> = FxHashMap::default();
        value.renumber(&mut |old| *renamed.entry(old).or_insert_with(|| self.identity()));
        value
    }

    fn bind(
        &mut self,
        function: Node<'t>,
        arguments: Vec<Value>,
        keywords: &[(&'t str, Value)],
    ) -> Vec<(&'t str, Value)> {
        let mut arguments = arguments.into_iter();
        let mut bound = Vec::new();
        for parameter in parameters(function, self.source) {
            let keyword = keywords.iter().find(|(name, _)| *name == parameter.name);
            let value = match (keyword, parameter.spread) {
                (_, true) if parameter.by_name => Value::Unknown,
                (_, true) => Value::Items(arguments.by_ref().collect()),
                (Some((_, value)), _) => value.clone(),
                (None, _) => match (arguments.next(), parameter.default) {
                    (Some(value), _) => value,
                    (None, Some(default)) => self.evaluate(default),
                    (None, None) => Value::Unknown,
                },
            };
            // The annotations of caller and function disagree: the value is not known to be a tensor.
            let is_denied = matches!(value, Value::Tensor(_)) && is_list_of_others(&parameter, self.source);
            bound.push((parameter.name, if is_denied { Value::Unknown } else { value }));
        }
        bound
    }

    /// Evaluates the function `index` with `values` as its local variables, and returns its result.
    pub fn run(&mut self, index: usize, class: Option<usize>, values: Vec<(&'t str, Value)>) -> Value {
        let Some(body) = field(self.program.functions[index].node, "body") else { return Value::Unknown };
        self.calls += 1;
        self.reached[index] |= self.quiet == 0;
        self.frames.push(Frame {
            function: Some(index),
            class,
            body,
            variables: values.into_iter().collect(),
            returned: None,
            statement: body,
        });
        let depth = std::mem::replace(&mut self.depth, 0);
        let value = if body.kind() == "block" {
            self.block(body);
            None
        } else {
            // A lambda returns the value of its body, which is an expression.
            Some(self.evaluate(body))
        };
        self.depth = depth;
        let frame = self.frames.pop();
        value.or(frame.and_then(|frame| frame.returned)).unwrap_or(Value::None)
    }

    /// Returns a new identity.
    pub fn identity(&mut self) -> Identity {
        self.identities += 1;
        self.identities
    }

    /// Returns the size at an axis of a shape: the same object for each read.
    pub fn size_of(&mut self, shape: Identity, item: i64) -> Value {
        let fresh = self.identity();
        let size = *self.sizes.entry((shape, item)).or_insert(fresh);
        self.shapes.insert(size, shape);
        Value::Size(size)
    }

    /// Returns a new size computed from others.
    pub fn computed_size(&mut self, may_have_fraction: bool) -> Value {
        let size = self.identity();
        if may_have_fraction {
            self.fractions.insert(size);
        }
        Value::Size(size)
    }

    /// Returns true if a value is a size that may be fractional.
    pub fn has_fraction(&self, value: &Value) -> bool {
        matches!(value, Value::Size(size) if self.fractions.contains(size))
    }

    /// Returns the shape from which a size was read.
    pub fn shape_of(&self, size: Identity) -> Option<Identity> {
        self.shapes.get(&size).copied()
    }

    /// Returns true if a value is a size read from a shape, and thus a non-negative integer.
    pub fn is_of_shape(&self, value: &Value) -> bool {
        matches!(value, Value::Size(size) if self.shapes.contains_key(size))
    }

    /// Evaluates an expression without reporting anything.
    pub fn look_at(&mut self, node: Node<'t>) -> Value {
        self.quiet += 1;
        let value = self.evaluate(node);
        self.quiet -= 1;
        value
    }

    /// Returns the value of a name as seen from the current frame.
    pub fn lookup(&self, name: &'t str) -> Value {
        let local =
            self.frames.last().and_then(|frame| frame.variables.get(name)).or_else(|| self.captured(name));
        if let Some(value) = local.or_else(|| self.globals.get(name)) {
            return value.clone();
        }
        let lambda = self.frames.last().and_then(|frame| frame.function);
        if name == "self"
            && let Some(class) = lambda.and_then(|lambda| self.program.class_around(lambda))
        {
            return Value::Instance(class);
        }
        match self.program.globals.get(name) {
            Some(Global::Function(index)) => Value::Function(*index),
            Some(Global::Class(index)) => Value::Class(*index),
            None => Value::Name(Rc::from(self.program.full_path(name))),
        }
    }

    /// Returns the value of a name that a nested function captures from the active functions.
    fn captured(&self, name: &str) -> Option<&Value> {
        let nested =
            |frame: &&Frame<'t>| frame.function.is_some_and(|function| self.program.is_nested(function));
        let inner = self.frames.last().filter(nested)?.function?;
        // A lambda may be called from anywhere, but captures only from the function that created it, and from
        // the functions nested in that function.
        let outer = self.program.functions[inner].outer;
        let is_lambda = self.program.functions[inner].name == LAMBDA;
        let made_it = |frame: &&Frame<'t>| {
            let of_outer = frame.function.is_some_and(|function| {
                outer == Some(function) || outer == self.program.functions[function].outer
            });
            !is_lambda || of_outer
        };
        self.frames.iter().rev().filter(made_it).find_map(|frame| frame.variables.get(name))
    }

    /// Sets a local variable.
    pub fn set(&mut self, name: &'t str, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables.insert(name, value);
        }
    }

    /// Returns a tensor with new memory.
    pub fn fresh_tensor(&mut self, origin: Origin) -> Tensor {
        Tensor::new(origin, self.identity())
    }
}
