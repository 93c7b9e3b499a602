//! Conditions that convert tensors to booleans, and loops over tensors and sizes.

use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::report::{self, Decision, Steps};
use super::syntax::{Arguments, bare, children, field, fields, line, text, within};
use super::value::{Layer, Origin, Value};

/// Names of sizes that the model determines, not its inputs.
const OF_MODEL: [&str; 9] = [
    "num_classes",
    "n_classes",
    "num_labels",
    "num_heads",
    "n_heads",
    "num_channels",
    "channels",
    "num_features",
    "hidden_size",
];

impl<'t> Interpreter<'t> {
    /// Evaluates the condition of `statement`, and returns its truth value if known.
    pub fn decide(&mut self, condition: Node<'t>, statement: Node<'t>, decision: Decision) -> Option<bool> {
        self.deeper(|this| this.decide_here(bare(condition), statement, decision)).flatten()
    }

    fn decide_here(&mut self, condition: Node<'t>, statement: Node<'t>, decision: Decision) -> Option<bool> {
        match condition.kind() {
            "boolean_operator" => return self.decide_both(condition, statement, decision),
            "not_operator" => {
                let argument = field(condition, "argument")?;
                return self.decide(argument, statement, decision).map(|truth| !truth);
            }
            _ => {}
        }
        let value = self.evaluate(condition);
        self.ask_truth(&value, condition, statement, decision);
        let on_size = matches!(value, Value::Size(_)) || self.compares_sizes(condition);
        match decision {
            Decision::While if on_size => {
                self.say(statement, report::unrolled(statement, condition, Steps::Size, self.source));
            }
            Decision::If | Decision::Conditional | Decision::Operator if on_size => {
                self.say(condition, report::size_branch(condition, self.source));
            }
            _ => {}
        }
        value.truth()
    }

    fn decide_both(&mut self, node: Node<'t>, statement: Node<'t>, decision: Decision) -> Option<bool> {
        let (left, right) = (field(node, "left")?, field(node, "right")?);
        let is_and = field(node, "operator").is_some_and(|operator| text(operator, self.source) == "and");
        let first = self.decide(left, statement, decision);
        if first == Some(!is_and) {
            return first;
        }
        match (first, self.decide(right, statement, decision)) {
            (Some(_), second) => second,
            (None, second) => second.filter(|second| *second != is_and),
        }
    }

    /// Forgets the value of `x` in the branch in which `isinstance(x, torch.Tensor)` is false.
    pub fn exclude_tensor(&mut self, condition: Node<'t>, is_true: bool) {
        let mut todo = vec![(condition, is_true)];
        while let Some((condition, is_true)) = todo.pop() {
            let call = bare(condition);
            match call.kind() {
                "not_operator" => todo.extend(field(call, "argument").map(|inner| (inner, !is_true))),
                "boolean_operator" => todo.extend(self.implied_operands(call, is_true)),
                "call" if !is_true => self.exclude_subject(call),
                _ => {}
            }
        }
    }

    /// Forgets the value of `x`, for the call `isinstance(x, torch.Tensor)`.
    fn exclude_subject(&mut self, call: Node<'t>) {
        let callee = field(call, "function").map_or("", |callee| text(callee, self.source));
        let arguments = Arguments::of(call, self.source).positional;
        if let [subject, class] = arguments[..]
            && callee == "isinstance"
            && subject.kind() == "identifier"
            && matches!(text(class, self.source), "torch.Tensor" | "Tensor")
        {
            self.set(text(subject, self.source), Value::Unknown);
        }
    }

    /// Returns the operands of `and` and `or` whose truth value the condition implies, with that value.
    fn implied_operands(&mut self, node: Node<'t>, is_true: bool) -> Vec<(Node<'t>, bool)> {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return vec![] };
        let is_and = field(node, "operator").is_some_and(|operator| text(operator, self.source) == "and");
        let is_neutral = |this: &mut Self, side| this.look_at(side).truth() == Some(is_and);
        let decided =
            if is_and == is_true { [true, true] } else { [is_neutral(self, right), is_neutral(self, left)] };
        let sides = [right, left].into_iter().zip([decided[1], decided[0]]);
        sides.filter(|(_, decided)| *decided).map(|(side, _)| (side, is_true)).collect()
    }

    /// Reports the conversion of a tensor to a boolean.
    fn ask_truth(&mut self, value: &Value, condition: Node<'t>, statement: Node<'t>, decision: Decision) {
        let taken = *value == Value::Taken;
        let tensor = value.tensor().filter(|tensor| tensor.origin >= Origin::State);
        let Some(origin) = tensor.map(|tensor| tensor.origin).or(taken.then_some(Origin::Input)) else {
            return;
        };
        let sure = tensor.is_some_and(|tensor| tensor.sure);
        // A bare name may be a flag instead of a tensor.
        if !sure && !taken && condition.kind() == "identifier" {
            return;
        }
        // The finding is placed at the condition of an `if` or `while`, or at a condition on a later line.
        let at = if line(statement) == line(condition) { statement } else { condition };
        let at =
            if matches!(decision, Decision::If | Decision::While | Decision::Guard) { condition } else { at };
        let words = report::traced_branch(statement, condition, decision, origin, self.source);
        self.say(at, if sure { words } else { words.remark() });
    }

    /// Returns true for comparisons with a shape, or with a size other than the last one, such as `i < n`.
    pub fn compares_sizes(&mut self, condition: Node<'t>) -> bool {
        let orders =
            |operator: &Node| matches!(text(*operator, self.source), "<" | ">" | "<=" | ">=" | "==" | "!=");
        if condition.kind() != "comparison_operator" || !fields(condition, "operators").iter().all(orders) {
            return false;
        }
        self.quiet += 1;
        let sides: Vec<Value> = children(condition).into_iter().map(|side| self.evaluate(side)).collect();
        self.quiet -= 1;
        // The last axis is assumed to count features, so that it does not vary.
        let is_last = |node: &Node| {
            ["shape[-1]", "size(-1)"].iter().any(|last| text(*node, self.source).ends_with(last))
        };
        let sizes = sides.iter().zip(children(condition));
        let mut sizes = sizes.into_iter();
        sizes.any(|(side, node)| matches!(side, Value::Size(_) | Value::Shape(_)) && !is_last(&node))
    }

    /// Returns the value of the variable of a loop over `iterable`. Reports the loop if it is unrolled.
    pub fn iterate(&mut self, iterable: Node<'t>, statement: Node<'t>) -> Value {
        let value = self.evaluate(iterable);
        if let Some(steps) = self.steps(iterable, &value) {
            let words = report::unrolled(statement, iterable, steps, self.source);
            let of_model =
                within(iterable).into_iter().any(|node| OF_MODEL.contains(&text(node, self.source)));
            let is_fixed = of_model || self.selects_layers(statement);
            self.say(statement, if is_fixed { words.remark() } else { words });
        }
        match &value {
            Value::Tensor(tensor) => Value::Tensor(self.row(tensor)),
            Value::Shape(_) => Value::Size(self.identity()),
            _ => self.wrapped_element(iterable, &value),
        }
    }

    /// Returns true if the variable of a loop selects a layer of a list, which fixes the step count.
    fn selects_layers(&mut self, statement: Node<'t>) -> bool {
        let clause = children(statement).into_iter().find(|part| part.kind() == "for_in_clause");
        let variable = field(clause.unwrap_or(statement), "left");
        let variable = variable.filter(|left| left.kind() == "identifier");
        let (Some(variable), Some(body)) = (variable, field(statement, "body")) else { return false };
        let variable = text(variable, self.source);
        let is_variable = |node: &Node| node.kind() == "identifier" && text(*node, self.source) == variable;
        let selections = within(body).into_iter().filter(|node| {
            let keys = fields(*node, "subscript");
            node.kind() == "subscript" && keys.into_iter().any(|key| within(key).iter().any(is_variable))
        });
        let lists: Vec<Node<'t>> = selections.filter_map(|node| field(node, "value")).collect();
        self.quiet += 1;
        let selects =
            lists.into_iter().any(|list| matches!(self.evaluate(list), Value::Layer(Layer::List(_))));
        self.quiet -= 1;
        selects
    }

    /// Returns the source of the step count of a loop over `iterable`, which has the value `value`.
    ///
    /// Returns `None` if the step count is not known to depend on a tensor.
    pub fn steps(&mut self, iterable: Node<'t>, value: &Value) -> Option<Steps> {
        let iterable = bare(iterable);
        match value {
            Value::Range(of) => match &**of {
                size if size.is_size() => Some(Steps::Size),
                Value::Tensor(tensor) if tensor.varies() && tensor.sure => Some(Steps::Value),
                Value::Taken => Some(Steps::Taken),
                _ => None,
            },
            // A random tensor has sizes that do not depend on an input.
            Value::Tensor(tensor) => (tensor.sure && tensor.origin == Origin::Input).then_some(Steps::Rows),
            _ if iterable.kind() == "call" => self.steps_of_call(iterable),
            _ => None,
        }
    }

    /// Like `steps`, for calls such as `enumerate(x)`, `zip(x, y)`, `x.unbind()` and `x.split(1)`.
    fn steps_of_call(&mut self, call: Node<'t>) -> Option<Steps> {
        let function = field(call, "function")?;
        let arguments = Arguments::of(call, self.source).positional;
        if is_wrapper(text(function, self.source)) {
            if text(function, self.source) == "zip" && self.is_bounded(&arguments) {
                return None;
            }
            self.quiet += 1;
            let found = arguments.into_iter().find_map(|argument| {
                let value = self.evaluate(argument);
                self.steps(argument, &value)
            });
            self.quiet -= 1;
            return found;
        }
        let method = text(field(function, "attribute")?, self.source);
        if !matches!(method, "unbind" | "split") {
            return None;
        }
        self.quiet += 1;
        let object = field(function, "object").map(|object| self.evaluate(object)).unwrap_or_default();
        let named = matches!(object, Value::Name(_));
        let subject = if named { arguments.first().map(|first| self.evaluate(*first)) } else { Some(object) };
        self.quiet -= 1;
        let sure = subject.as_ref().and_then(Value::sure_tensor).is_some_and(|tensor| tensor.varies());
        sure.then_some(if method == "unbind" { Steps::Rows } else { Steps::Pieces })
    }

    /// Returns true if an argument of `zip` is a list of layers or a list with known items.
    fn is_bounded(&mut self, arguments: &[Node<'t>]) -> bool {
        self.quiet += 1;
        let bounded = arguments.iter().any(|argument| {
            matches!(self.evaluate(*argument), Value::Layer(Layer::List(_)) | Value::Items(_))
        });
        self.quiet -= 1;
        bounded
    }

    /// Returns the element of an iterable, which may be a call of `enumerate`, `zip` or a similar function.
    fn wrapped_element(&mut self, iterable: Node<'t>, value: &Value) -> Value {
        let iterable = bare(iterable);
        let name = field(iterable, "function").map_or("", |function| text(function, self.source));
        if iterable.kind() != "call" || !is_wrapper(name) {
            return value.element();
        }
        self.quiet += 1;
        let arguments = Arguments::of(iterable, self.source).positional;
        let elements: Vec<Value> =
            arguments.into_iter().map(|argument| self.iterate(argument, iterable)).collect();
        self.quiet -= 1;
        match (name, elements.as_slice()) {
            ("enumerate", [element, ..]) => Value::Items([Value::Number(None), element.clone()].into()),
            ("zip" | "product" | "itertools.product", elements) => Value::Items(elements.into()),
            (name, [element, ..]) if is_combining(name) => Value::Each(Box::new(element.clone())),
            (_, [element, ..]) => element.clone(),
            _ => Value::Unknown,
        }
    }
}

/// Returns true for iterators whose step count follows from the lengths of their arguments.
fn is_wrapper(function: &str) -> bool {
    matches!(
        function.rsplit('.').next().unwrap_or(""),
        "enumerate" | "zip" | "reversed" | "list" | "tuple" | "iter" | "sorted" | "tqdm" | "trange"
    ) || matches!(function, "product" | "itertools.product")
        || is_combining(function)
}

/// Returns true for functions of `itertools` that yield several elements of one iterable at a time.
fn is_combining(function: &str) -> bool {
    let name = function.strip_prefix("itertools.").unwrap_or(function);
    matches!(name, "combinations" | "combinations_with_replacement" | "pairwise" | "permutations")
}
