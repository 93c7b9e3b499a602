//! Statements, and the paths through them.

use tree_sitter::Node;

use super::super::syntax::{children, field, fields};
use super::files::swallows;
use super::machine::{Eval, Machine, Raised, Stop};
use super::record::Taken;
use super::value::Value;

pub use super::flow::Flow;

/// Result of a statement.
pub type Step<'t> = Result<Flow<'t>, Stop>;

impl<'t> Machine<'t> {
    /// Runs the statements of a block.
    pub fn block(&mut self, block: Node<'t>) -> Step<'t> {
        for statement in children(block) {
            match self.statement(statement)? {
                Flow::Next => {}
                ended => return Ok(ended),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, node: Node<'t>) -> Step<'t> {
        self.enter()?;
        let flow = self.run_statement(node);
        self.leave();
        flow
    }

    fn run_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let is_certain = self.doubt <= self.model_start.0;
        self.coverage.run(self.file(), node, is_certain);
        self.trace_statement(node);
        match node.kind() {
            "expression_statement" => {
                for child in children(node) {
                    self.simple(child)?;
                }
            }
            "return_statement" => {
                let value = children(node).first().map(|value| self.evaluate(*value)).transpose()?;
                return Ok(Flow::Return(value.unwrap_or(Value::None)));
            }
            "break_statement" => return Ok(Flow::Break),
            "continue_statement" => return Ok(Flow::Continue),
            "raise_statement" => return Err(self.raise_statement(node)),
            "assert_statement" => return self.assert_statement(node),
            "if_statement" => return self.if_statement(node),
            "for_statement" => return self.for_statement(node),
            "while_statement" => return self.while_statement(node),
            "with_statement" => return self.with_items(node, 0),
            "try_statement" => return self.try_statement(node),
            "match_statement" => return self.match_statement(node),
            "function_definition" => {
                let function = self.function(node, &[]);
                self.bind_definition(node, function);
            }
            "class_definition" => {
                let class = self.class_definition(node, &[])?;
                self.bind_definition(node, class);
            }
            "decorated_definition" => self.decorated(node)?,
            "import_statement" => self.import_statement(node)?,
            "import_from_statement" => self.import_from(node)?,
            "global_statement" | "nonlocal_statement" => self.declare_outer(node),
            "delete_statement" => self.delete(node)?,
            _ => {}
        }
        Ok(Flow::Next)
    }

    fn simple(&mut self, node: Node<'t>) -> Result<(), Stop> {
        match node.kind() {
            "assignment" => self.assignment(node),
            "augmented_assignment" => self.augmented(node),
            _ => self.evaluate(node).map(drop),
        }
    }

    fn assignment(&mut self, node: Node<'t>) -> Result<(), Stop> {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            // `x: int` in a class defines a field of a dataclass.
            self.declare_field(node);
            return Ok(());
        };
        let value = if right.kind() == "assignment" {
            self.assignment(right)?;
            field(right, "left").map(|left| self.evaluate(left)).transpose()?.unwrap_or_default()
        } else {
            self.evaluate(right)?
        };
        self.assign(left, value)?;
        self.declare_field(node);
        Ok(())
    }

    fn raise_statement(&mut self, node: Node<'t>) -> Stop {
        let what = children(node).first().copied();
        let callee = what.map(|what| field(what, "function").unwrap_or(what));
        let kind = callee.map_or("", |callee| self.text(callee));
        let kind = kind.rsplit('.').next().unwrap_or(kind).to_owned();
        Stop::Raised(Box::new(Raised { kind, finding: None }))
    }

    fn assert_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let Some(condition) = children(node).first().copied() else { return Ok(Flow::Next) };
        let value = self.evaluate(condition)?;
        if self.truth(&value) == Some(false) {
            return Err(Stop::Raised(Box::new(Raised { kind: "AssertionError".to_owned(), finding: None })));
        }
        Ok(Flow::Next)
    }

    fn if_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let alternatives = fields(node, "alternative");
        self.alternatives(field(node, "condition"), field(node, "consequence"), &alternatives)
    }

    fn alternatives(
        &mut self,
        condition: Option<Node<'t>>,
        then: Option<Node<'t>>,
        rest: &[Node<'t>],
    ) -> Step<'t> {
        let value = condition.map(|condition| self.evaluate(condition)).transpose()?.unwrap_or_default();
        let first = |machine: &mut Self| then.map_or(Ok(Flow::Next), |then| machine.block(then));
        let second = |machine: &mut Self| match rest {
            [] => Ok(Flow::Next),
            [elif, more @ ..] if elif.kind() == "elif_clause" => {
                machine.alternatives(field(*elif, "condition"), field(*elif, "consequence"), more)
            }
            [other, ..] => field(*other, "body").map_or(Ok(Flow::Next), |body| machine.block(body)),
        };
        let truth = self.truth(&value);
        let truth = match (truth, condition) {
            (Some(truth), Some(condition)) => {
                Some(self.taken(Taken::Branch, condition, i64::from(truth)) != 0)
            }
            (None, Some(condition)) => {
                self.check_branch(&value, condition)?;
                self.default_path(condition)
            }
            _ => truth,
        };
        match truth {
            Some(true) => first(self),
            Some(false) => second(self),
            // One of the two branches is for other releases of a library, so nothing is reported.
            None if condition.is_some_and(|condition| self.asks_for_release(condition)) => {
                self.quiet += 1;
                let flow = self.either(first, second);
                self.quiet -= 1;
                flow
            }
            None => {
                let missing = condition.and_then(|condition| self.missing_file(condition));
                let count = self.missing.len();
                self.missing.extend(missing);
                let flow = self.either(first, second);
                self.missing.truncate(count);
                flow
            }
        }
    }

    /// Returns false if a condition depends on `sys.argv`, and is false without arguments.
    ///
    /// A script is linted as if it was called without arguments. Returns `None` for a condition that does not
    /// depend on `sys.argv`, and for a condition that is true without arguments, because the branch taken
    /// could end the script.
    pub fn default_path(&mut self, condition: Node<'t>) -> Option<bool> {
        if !self.text(condition).contains("argv") {
            return None;
        }
        self.is_without_arguments = true;
        let value = self.evaluate(condition).unwrap_or_default();
        self.is_without_arguments = false;
        self.truth(&value).filter(|truth| !truth)
    }

    /// Returns true if a condition depends on the release of a library.
    ///
    /// A condition that reads a version depends on the release, and so does a test whether an attribute, a
    /// parameter or a module exists.
    pub fn asks_for_release(&self, condition: Node<'t>) -> bool {
        let text = self.text(condition).to_ascii_lowercase();
        ["version", "hasattr(", "signature(", "find_spec("].iter().any(|word| text.contains(word))
    }

    /// Runs a `with` statement from the item `at` on.
    pub fn with_items(&mut self, node: Node<'t>, at: usize) -> Step<'t> {
        let clause = children(node).into_iter().find(|child| child.kind() == "with_clause");
        let item = clause.and_then(|clause| children(clause).get(at).copied());
        let Some((item, value)) = item.and_then(|item| Some((item, field(item, "value")?))) else {
            return field(node, "body").map_or(Ok(Flow::Next), |body| self.block(body));
        };
        if let Some(flow) = self.with_generator(node, at, item) {
            return flow;
        }
        let active = self.contexts.len();
        let is_named = value.kind() == "as_pattern";
        let code = if is_named { children(value).first().copied() } else { Some(value) };
        let context = self.evaluate_optional(code)?;
        let entered = self.enter_context(&context, value)?;
        self.contexts.push(context);
        let target = field(value, "alias").filter(|_| is_named);
        if let Some(target) = target.and_then(|alias| children(alias).first().copied()) {
            self.assign(target, entered)?;
        }
        let swallows = swallows(item, self.source(self.file()));
        let ended = self.with_items(node, at + 1);
        let left = self.contexts.split_off(active.min(self.contexts.len()));
        let swallows = swallows || left.iter().any(|context| self.may_swallow(context));
        if ended.is_ok() {
            for context in left.iter().rev() {
                self.leave_context(context, node)?;
            }
        }
        match ended {
            Err(Stop::Raised(_)) if swallows => Ok(Flow::Next),
            ended => ended,
        }
    }

    fn match_statement(&mut self, node: Node<'t>) -> Step<'t> {
        let cases = field(node, "body").map(children).unwrap_or_default();
        let subjects = fields(node, "subject");
        let subject = match subjects[..] {
            [only] => self.evaluate(only)?,
            _ => Value::Unknown,
        };
        let mut flow = Flow::Next;
        let mut is_open = false;
        for case in cases {
            let Some(body) = field(case, "consequence") else { continue };
            match self.matches(&subject, case) {
                Some(false) => continue,
                Some(true) if !is_open => return self.block(body),
                _ => {}
            }
            is_open = true;
            flow = self.either(|machine| machine.block(body), |_| Ok(Flow::Next))?;
        }
        Ok(flow)
    }

    /// Returns whether a value matches the pattern of a case, which may be a literal; `None` if unknown.
    fn matches(&mut self, subject: &Value<'t>, case: Node<'t>) -> Option<bool> {
        let patterns: Vec<Node<'t>> =
            children(case).into_iter().filter(|child| child.kind() == "case_pattern").collect();
        let [pattern] = patterns[..] else { return None };
        if field(case, "guard").is_some() {
            return None;
        }
        if self.text(pattern).trim() == "_" {
            return Some(true);
        }
        let literal = children(pattern).first().copied()?;
        if !matches!(literal.kind(), "string" | "integer" | "true" | "false" | "none") {
            return None;
        }
        // A negative number is a sign and a number.
        if self.text(literal) != self.text(pattern).trim() {
            return None;
        }
        let value = self.evaluate(literal).ok()?;
        // `case True` compares by identity.
        if matches!(value, Value::Bool(_)) && !matches!(subject, Value::Bool(_)) {
            return None;
        }
        self.equal(subject, &value)
    }

    fn bind_definition(&mut self, node: Node<'t>, value: Value<'t>) {
        if let Some(name) = field(node, "name") {
            let name = self.text(name);
            self.set_variable(name, value);
        }
    }

    /// Evaluates an expression if there is one.
    pub fn evaluate_optional(&mut self, node: Option<Node<'t>>) -> Eval<'t> {
        node.map_or(Ok(Value::Unknown), |node| self.evaluate(node))
    }
}
