//! Expressions.

use tree_sitter::Node;

use super::super::syntax::{bare, children, field, fields};
use super::machine::{Eval, Machine, Stop};
use super::record::Taken;
use super::value::Value;

impl<'t> Machine<'t> {
    /// Evaluates an expression.
    pub fn evaluate(&mut self, node: Node<'t>) -> Eval<'t> {
        self.enter()?;
        let value = self.expression(node);
        self.leave();
        value
    }

    fn expression(&mut self, node: Node<'t>) -> Eval<'t> {
        Ok(match node.kind() {
            "identifier" => {
                let name = self.text(node);
                self.note_read(name);
                match self.variable(name) {
                    Value::Name(path) if self.is_without_arguments && &*path == "sys.argv" => {
                        self.script_arguments()
                    }
                    value => value,
                }
            }
            "integer" => integer(self.text(node)).map_or(Value::Unknown, Value::Int),
            "float" => float(self.text(node)).map_or(Value::Unknown, Value::Float),
            "string" => return self.string(node),
            "concatenated_string" => return self.concatenated(node),
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "none" => Value::None,
            "ellipsis" => Value::Ellipsis,
            "parenthesized_expression" => return self.evaluate(bare(node)),
            "tuple" | "expression_list" | "pattern_list" => match self.sequence(&children(node))? {
                Some(items) => Value::tuple(items),
                None => Value::Unknown,
            },
            "list" => match self.sequence(&children(node))? {
                Some(items) => self.list(items),
                None => self.open_list(),
            },
            "set" => match self.sequence(&children(node))? {
                Some(items) => self.set(items),
                None => Value::Unknown,
            },
            "dictionary" => return self.dictionary(node),
            "list_comprehension" | "generator_expression" => return self.list_comprehension(node),
            "set_comprehension" => match self.list_comprehension(node)? {
                list if self.items(&list).is_some() => {
                    let items = self.items(&list).unwrap_or_default();
                    self.set(items)
                }
                _ => Value::Unknown,
            },
            "dictionary_comprehension" => return self.dictionary_comprehension(node),
            "lambda" => self.function(node, &[]),
            "conditional_expression" => return self.conditional(node),
            "boolean_operator" => return self.boolean(node),
            "not_operator" => {
                let value = self.evaluate_optional(field(node, "argument"))?;
                let truth = self.truth(&value);
                if truth.is_none() {
                    self.check_branch(&value, node)?;
                }
                truth.map_or(Value::Unknown, |truth| Value::Bool(!truth))
            }
            "comparison_operator" => return self.comparison(node),
            "binary_operator" => {
                let left = self.evaluate_optional(field(node, "left"))?;
                let right = self.evaluate_optional(field(node, "right"))?;
                let operator = field(node, "operator").map_or("", |operator| self.text(operator));
                return self.binary(operator, &left, &right, node);
            }
            "unary_operator" => {
                let value = self.evaluate_optional(field(node, "argument"))?;
                let operator = field(node, "operator").map_or("", |operator| self.text(operator));
                return self.unary(operator, &value, node);
            }
            "attribute" => return self.attribute_expression(node),
            "subscript" => return self.subscript(node),
            "slice" => self.slice(node)?,
            "call" => return self.call(node),
            "yield" => return self.yielded(node),
            "named_expression" => {
                let value = self.evaluate_optional(field(node, "value"))?;
                if let Some(name) = field(node, "name") {
                    self.set_variable(self.text(name), value.clone());
                }
                value
            }
            _ => {
                for child in children(node) {
                    self.evaluate(child)?;
                }
                Value::Unknown
            }
        })
    }

    /// Evaluates the items of a list or tuple. Returns `None` if the number of items is unknown.
    pub fn sequence(&mut self, nodes: &[Node<'t>]) -> Result<Option<Vec<Value<'t>>>, Stop> {
        let mut items = vec![];
        let mut known = true;
        for node in nodes {
            if matches!(node.kind(), "list_splat" | "parenthesized_list_splat") {
                let inner = self.evaluate_optional(children(*node).first().copied())?;
                match self.items(&inner) {
                    Some(inner) => items.extend(inner),
                    None => known = false,
                }
            } else {
                items.push(self.evaluate(*node)?);
            }
        }
        Ok(known.then_some(items))
    }

    fn dictionary(&mut self, node: Node<'t>) -> Eval<'t> {
        let dict = self.dict(vec![], false);
        for child in children(node) {
            if child.kind() == "pair" {
                let key = self.evaluate_optional(field(child, "key"))?;
                let value = self.evaluate_optional(field(child, "value"))?;
                self.set_entry(&dict, key, value);
            } else {
                let inner = self.evaluate_optional(children(child).first().copied())?;
                self.update_dict(&dict, &inner);
            }
        }
        Ok(dict)
    }

    fn conditional(&mut self, node: Node<'t>) -> Eval<'t> {
        let [then, condition, other] = children(node)[..] else { return Ok(Value::Unknown) };
        let asked = condition;
        let condition = self.evaluate(condition)?;
        let mut truth = self.truth(&condition);
        if truth.is_none() {
            self.check_branch(&condition, asked)?;
            truth = self.default_path(asked);
        }
        if let Some(known) = truth {
            truth = Some(self.taken(Taken::Branch, asked, i64::from(known)) != 0);
        }
        match truth {
            Some(true) => self.evaluate(then),
            Some(false) => self.evaluate(other),
            // One of the two expressions is for other releases of a library, so nothing is reported.
            None if self.asks_for_release(asked) => {
                self.quiet += 1;
                let value = self.either_value(then, other);
                self.quiet -= 1;
                value
            }
            None => self.either_value(then, other),
        }
    }

    /// Evaluates two expressions and joins their values; the script runs only one of them.
    fn either_value(&mut self, one: Node<'t>, other: Node<'t>) -> Eval<'t> {
        let before = self.heap.snapshot();
        let first = self.in_doubt(|machine| machine.evaluate(one));
        let after = self.heap.restore(&before);
        let second = self.in_doubt(|machine| machine.evaluate(other));
        match (first, second) {
            (Ok(a), Ok(b)) => {
                self.heap.join(&after);
                Ok(a.join(&b))
            }
            (Ok(a), Err(Stop::Raised(_))) => {
                self.heap.restore(&after);
                Ok(a)
            }
            (Err(Stop::Raised(_)), Ok(b)) => Ok(b),
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
        }
    }

    fn boolean(&mut self, node: Node<'t>) -> Eval<'t> {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Ok(Value::Unknown);
        };
        let is_and = field(node, "operator").is_some_and(|operator| self.text(operator) == "and");
        let value = self.evaluate(left)?;
        match self.truth(&value) {
            Some(truth) if truth == is_and => self.evaluate(right),
            Some(_) => Ok(value),
            None => {
                self.check_branch(&value, left)?;
                let before = self.heap.snapshot();
                let other = self.in_doubt(|machine| machine.evaluate(right));
                let after = self.heap.restore(&before);
                self.heap.join(&after);
                match other {
                    Ok(other) => {
                        // `unknown and False` is never true.
                        if self.truth(&other) == Some(!is_and) && other == Value::Bool(!is_and) {
                            return Ok(other);
                        }
                        Ok(value.join(&other))
                    }
                    Err(Stop::Exhausted) => Err(Stop::Exhausted),
                    Err(_) => Ok(value),
                }
            }
        }
    }

    fn comparison(&mut self, node: Node<'t>) -> Eval<'t> {
        let operators: Vec<&str> =
            fields(node, "operators").into_iter().map(|operator| self.text(operator)).collect();
        let mut sides = vec![];
        for side in children(node) {
            sides.push(self.evaluate(side)?);
        }
        if operators.len() + 1 != sides.len() {
            return Ok(Value::Unknown);
        }
        let is_ordering = |operator: &&str| matches!(*operator, "<" | ">" | "<=" | ">=" | "==" | "!=");
        for tensor in sides.iter().filter_map(Value::tensor).filter(|_| operators.iter().all(is_ordering)) {
            self.coverage.read(self.file(), node, tensor.memory);
        }
        let mut result = Value::Bool(true);
        for (operator, pair) in operators.iter().zip(sides.windows(2)) {
            result = self.compare(operator, &pair[0], &pair[1], node)?;
            match self.truth(&result) {
                Some(true) => {}
                Some(false) => return Ok(result),
                None if operators.len() == 1 => return Ok(result),
                None => return Ok(Value::Unknown),
            }
        }
        Ok(result)
    }

    fn slice(&mut self, node: Node<'t>) -> Eval<'t> {
        let mut parts = [Value::None, Value::None, Value::None];
        let mut at = 0;
        let mut cursor = node.walk();
        let all: Vec<Node<'t>> = node.children(&mut cursor).collect();
        for child in all {
            if child.kind() == ":" {
                at += 1;
            } else if child.is_named() && child.kind() != "comment" && at < 3 {
                parts[at] = self.evaluate(child)?;
            }
        }
        Ok(Value::Slice(parts.into()))
    }

    /// Returns the truth of a value, if it is known.
    pub fn truth(&self, value: &Value<'t>) -> Option<bool> {
        Some(match value {
            Value::Unknown => return None,
            Value::None => false,
            Value::Bool(flag) => *flag,
            Value::Int(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::Tuple(items) => !items.is_empty(),
            Value::Tensor(tensor) => match self.data(tensor)?.as_ref() {
                [one] => *one != 0.0,
                _ => return None,
            },
            Value::Object(_) | Value::Range(..) => match self.length(value) {
                Some(length) => length != 0,
                None => return self.is_true_object(value),
            },
            Value::Name(_) | Value::Method(_) => return None,
            Value::Ellipsis
            | Value::Slice(_)
            | Value::Function(_)
            | Value::Bound(_)
            | Value::Super(_)
            | Value::Device(_) => true,
        })
    }
}

/// Parses an integer literal.
fn integer(text: &str) -> Option<i64> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let digits = |prefix, radix| text.strip_prefix(prefix).map(|digits| i64::from_str_radix(digits, radix));
    let based = digits("0x", 16).or_else(|| digits("0b", 2)).or_else(|| digits("0o", 8));
    based.unwrap_or_else(|| text.parse()).ok()
}

fn float(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok()
}
