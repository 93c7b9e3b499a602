//! Statements: assignments, control flow, and faults in them.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::interpreter::Interpreter;
use super::program::ClassKind;
use super::report::{self, Decision};
use super::syntax::{bare, children, field, fields, text};
use super::value::{Traced, Value};

/// Whether the code after a statement is unreachable.
pub type Ends = bool;

impl<'t> Interpreter<'t> {
    /// Runs a block.
    pub fn block(&mut self, block: Node<'t>) -> Ends {
        children(block).into_iter().any(|statement| self.statement(statement))
    }

    /// Runs a statement.
    pub fn statement(&mut self, node: Node<'t>) -> Ends {
        self.stand_at(node);
        match node.kind() {
            "return_statement" => return self.return_statement(node),
            "raise_statement" | "break_statement" | "continue_statement" => return true,
            "if_statement" => return self.if_statement(node),
            "for_statement" => self.for_statement(node),
            "while_statement" => self.while_statement(node),
            "assert_statement" => {
                if let Some(condition) = children(node).first() {
                    self.check(*condition, node, Decision::Assert);
                    self.pin_size(*condition, "==");
                }
            }
            "with_statement" => return self.with_statement(node),
            "try_statement" => return self.try_statement(node),
            "match_statement" => {
                let branches = field(node, "body").map(children).unwrap_or_default();
                self.branches(branches.into_iter().filter_map(|case| field(case, "consequence")).collect());
            }
            "expression_statement" => {
                for child in children(node) {
                    self.simple(child);
                }
            }
            "function_definition" | "class_definition" | "decorated_definition" => {
                let definition = field(node, "definition").unwrap_or(node);
                if let Some(name) = field(definition, "name") {
                    let nested = self.program.nested.get(&definition.id()).copied();
                    self.set(text(name, self.source), nested.map_or(Value::Unknown, Value::Function));
                }
            }
            _ => {}
        }
        false
    }

    /// Records the current statement.
    fn stand_at(&mut self, node: Node<'t>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.statement = node;
        }
    }

    fn simple(&mut self, node: Node<'t>) {
        match node.kind() {
            "assignment" => {
                let value = field(node, "right").map(|right| self.assigned(right)).unwrap_or_default();
                if let Some(left) = field(node, "left").filter(|_| field(node, "right").is_some()) {
                    self.assign(left, value);
                }
            }
            "augmented_assignment" => self.augmented(node),
            _ => {
                self.evaluate(node);
            }
        }
    }

    /// Returns the value of the right side of an assignment, which may be an assignment: `a = b = n`.
    fn assigned(&mut self, right: Node<'t>) -> Value {
        if right.kind() == "assignment" {
            self.simple(right);
            return field(right, "left").map(|left| self.evaluate(left)).unwrap_or_default();
        }
        self.evaluate(right)
    }

    /// Binds `target` to `value`.
    pub fn assign(&mut self, target: Node<'t>, value: Value) {
        match target.kind() {
            "identifier" => self.set(text(target, self.source), value),
            "pattern_list" | "tuple_pattern" | "list_pattern" | "expression_list" | "tuple" | "list" => {
                self.unpack(&children(target), &value);
            }
            "attribute" => {
                let (Some(object), Some(name)) = (field(target, "object"), field(target, "attribute")) else {
                    return;
                };
                let module = self.evaluate(object);
                self.set_training(&module, object, text(name, self.source), &value);
                if let Value::Instance(class) = module {
                    self.changed.insert((class, text(name, self.source)), value);
                }
            }
            "subscript" => self.assign_items(target, &value),
            "parenthesized_expression" => self.assign(bare(target), value),
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &[Node<'t>], value: &Value) {
        let starred = targets.iter().position(|target| target.kind() == "list_splat_pattern");
        for (position, target) in targets.iter().enumerate() {
            let item = match (value, starred) {
                (Value::Items(items), None) if items.len() == targets.len() => items[position].clone(),
                (Value::Items(items), Some(star)) if position < star => {
                    items.get(position).cloned().unwrap_or_default()
                }
                (Value::Shape(shape), None) => self.size_of(*shape, i64::try_from(position).unwrap_or(0)),
                (Value::Shape(shape), Some(star)) if position < star => {
                    self.size_of(*shape, i64::try_from(position).unwrap_or(0))
                }
                (Value::Shape(shape), Some(star)) if position == star => Value::Shape(*shape),
                (Value::Shape(_), Some(_)) => Value::Size(self.identity()),
                (Value::Tensor(tensor), _) => Value::Tensor(self.row(tensor)),
                _ => value.element(),
            };
            self.assign(*target, item);
        }
    }

    fn return_statement(&mut self, node: Node<'t>) -> Ends {
        let value = children(node).first().map_or(Value::None, |value| self.evaluate(*value));
        if let [frame] = self.frames.as_slice()
            && let Some(class) = frame.class
            && frame.function.is_some_and(|function| self.program.functions[function].name == "forward")
            && self.is_output(class)
            && let Some(returned) = children(node).first()
        {
            self.dictionary_output(bare(*returned), &value);
            if matches!(&value, Value::Array(array) if array.traced == Traced::Elements) {
                self.say(*returned, report::array_output(*returned, self.source));
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            let before = frame.returned.take();
            frame.returned = Some(before.map_or(value.clone(), |before| before.join(value)));
        }
        true
    }

    /// Returns true if a class is a module but not a submodule, so that `forward` returns model outputs.
    fn is_output(&self, class: usize) -> bool {
        self.program.classes[class].kind == ClassKind::Module && !self.program.is_part(class)
    }

    fn dictionary_output(&mut self, node: Node<'t>, value: &Value) {
        let all =
            if matches!(node.kind(), "tuple" | "expression_list") { children(node) } else { vec![node] };
        let text_among = all.iter().find(|item| matches!(item.kind(), "string" | "concatenated_string"));
        let is_data =
            matches!(value, Value::Instance(class) if self.program.classes[*class].kind == ClassKind::Data);
        let has_dict = matches!(value, Value::Items(items) if items.contains(&Value::Dict));
        if *value == Value::Dict || has_dict || is_data {
            self.say(node, report::dictionary_output(node, self.source, is_data));
        } else if let Some(string) = text_among {
            self.say(*string, report::string_output(text(*string, self.source)));
        }
    }

    fn if_statement(&mut self, node: Node<'t>) -> Ends {
        let Some(condition) = field(node, "condition") else { return false };
        let consequence = field(node, "consequence");
        let alternatives = fields(node, "alternative");
        let only_raises = alternatives.is_empty() && consequence.is_some_and(raises);
        let truth = if only_raises {
            self.check(condition, node, Decision::Guard)
        } else {
            self.decide(condition, node, Decision::If)
        };
        let ends = self.alternatives(condition, truth, consequence, &alternatives);
        if only_raises {
            self.pin_size(condition, "!=");
        }
        ends
    }

    /// Evaluates a condition that only decides whether the code raises, and that is not in the graph.
    fn check(&mut self, condition: Node<'t>, statement: Node<'t>, decision: Decision) -> Option<bool> {
        self.checks += 1;
        let truth = self.decide(condition, statement, decision);
        self.checks -= 1;
        truth
    }

    /// Marks a size as constant after `if n != self.channels: raise`, or after `assert n == self.channels`.
    fn pin_size(&mut self, condition: Node<'t>, operator: &str) {
        let condition = bare(condition);
        let [left, right] = children(condition)[..] else { return };
        let is_meant = condition.kind() == "comparison_operator"
            && fields(condition, "operators").iter().all(|node| text(*node, self.source) == operator);
        let is_setting =
            |side: Node| side.kind() == "integer" || text(side, self.source).starts_with("self.");
        let (name, setting) = match (left.kind(), right.kind()) {
            ("identifier", _) if is_setting(right) => (text(left, self.source), right),
            (_, "identifier") if is_setting(left) => (text(right, self.source), left),
            _ => return,
        };
        // After `self.n = x.shape[1]`, the attribute is no setting.
        if self.look_at(setting).is_size() {
            return;
        }
        if is_meant && matches!(self.lookup(name), Value::Size(_)) {
            self.set(name, Value::Number(None));
        }
    }

    /// Runs the branches of an `if`, including `elif` and `else`.
    fn alternatives(
        &mut self,
        condition: Node<'t>,
        truth: Option<bool>,
        then: Option<Node<'t>>,
        rest: &[Node<'t>],
    ) -> Ends {
        let before = self.variables();
        let mut ends = true;
        let mut after = None;
        if truth != Some(false) {
            self.exclude_tensor(condition, true);
            ends = then.is_some_and(|then| self.branch(condition, true, then));
            after = (!ends).then(|| self.variables());
        }
        if truth == Some(true) {
            return ends;
        }
        self.restore(before);
        self.exclude_tensor(condition, false);
        let other_ends = match rest {
            [] => false,
            [first, more @ ..] if first.kind() == "elif_clause" => match field(*first, "condition") {
                Some(condition) => {
                    self.stand_at(*first);
                    let truth = self.decide(condition, *first, Decision::If);
                    self.alternatives(condition, truth, field(*first, "consequence"), more)
                }
                None => false,
            },
            [other, ..] => field(*other, "body").is_some_and(|body| self.branch(condition, false, body)),
        };
        match after {
            Some(then) if other_ends => self.restore(then),
            Some(then) => self.join(then),
            None => {}
        }
        ends && other_ends
    }

    fn for_statement(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return };
        let element = self.iterate(right, node);
        let before = self.variables();
        self.assign(left, element);
        if let Some(body) = field(node, "body") {
            self.block(body);
        }
        self.join(before);
        if let Some(body) = field(node, "alternative").and_then(|other| field(other, "body")) {
            self.block(body);
        }
    }

    fn while_statement(&mut self, node: Node<'t>) {
        let Some(condition) = field(node, "condition") else { return };
        self.decide(condition, node, Decision::While);
        let before = self.variables();
        if let Some(body) = field(node, "body") {
            self.block(body);
        }
        self.join(before);
    }

    fn with_statement(&mut self, node: Node<'t>) -> Ends {
        let clause = children(node).into_iter().find(|child| child.kind() == "with_clause");
        for item in clause.map(children).unwrap_or_default() {
            if let Some(value) = field(item, "value") {
                self.evaluate(value);
            }
        }
        field(node, "body").is_some_and(|body| self.block(body))
    }

    fn try_statement(&mut self, node: Node<'t>) -> Ends {
        let of_frame = |linter: &Self| linter.frames.last().and_then(|frame| frame.returned.clone());
        // The body may return the same value as the statements before it.
        let before = self.frames.last_mut().and_then(|frame| frame.returned.take());
        let ends = field(node, "body").is_some_and(|body| self.block(body));
        let returned = of_frame(self);
        let mut handlers_end = true;
        for clause in children(node).into_iter().filter(|child| child.kind() == "except_clause") {
            let before = self.variables();
            let block = children(clause).into_iter().find(|child| child.kind() == "block");
            handlers_end &= block.is_some_and(|block| self.block(block));
            self.restore(before);
        }
        // If the body returns, handlers run only after an exception: their results are dropped.
        let does_return = ends && returned.is_some();
        if let Some(frame) = self.frames.last_mut() {
            let within = if does_return { returned } else { frame.returned.take() };
            frame.returned = match (before, within) {
                (Some(before), Some(within)) => Some(before.join(within)),
                (before, within) => before.or(within),
            };
        }
        for clause in
            children(node).into_iter().filter(|c| matches!(c.kind(), "else_clause" | "finally_clause"))
        {
            let body =
                field(clause, "body").or_else(|| children(clause).into_iter().find(|c| c.kind() == "block"));
            if let Some(body) = body {
                self.block(body);
            }
        }
        does_return || ends && handlers_end
    }

    /// Runs blocks of which at most one is executed.
    fn branches(&mut self, blocks: Vec<Node<'t>>) {
        for block in blocks {
            let before = self.variables();
            self.block(block);
            self.join(before);
        }
    }

    /// Returns the local variables.
    pub fn variables(&self) -> FxHashMap<&'t str, Value> {
        self.frames.last().map(|frame| frame.variables.clone()).unwrap_or_default()
    }

    /// Replaces the local variables.
    pub fn restore(&mut self, variables: FxHashMap<&'t str, Value>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables = variables;
        }
    }

    /// Joins the variables with those of another path.
    pub fn join(&mut self, other: FxHashMap<&'t str, Value>) {
        let Some(frame) = self.frames.last_mut() else { return };
        for (name, value) in other {
            let joined = match frame.variables.remove(name) {
                Some(now) => now.join(value),
                None => value,
            };
            frame.variables.insert(name, joined);
        }
    }
}

/// Returns true if a block ends with `raise`.
fn raises(block: Node) -> bool {
    children(block).last().is_some_and(|last| last.kind() == "raise_statement")
}
