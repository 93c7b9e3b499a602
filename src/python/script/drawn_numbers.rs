//! Random numbers of Python and NumPy in `forward`, which an export draws once.

use tree_sitter::Node;

use crate::diag::{Level, Place, rule_ids};

use super::super::syntax::{ancestors, children, field, one_line, text, with_ancestors, within};
use super::calls::Args;
use super::frozen_state::layers_of;
use super::machine::Machine;
use super::state_flow::{CARRIERS, METADATA, RESETS, is_data};
use super::torch::names::is_tensor_name;
use super::value::Value;

/// Maximum number of draws that are followed.
const MAX_DRAWS: usize = 16;

/// Further functions and methods whose results depend on their arguments.
const MAKERS: [&str; 15] = [
    "int",
    "float",
    "round",
    "abs",
    "tensor",
    "as_tensor",
    "from_numpy",
    "full",
    "roll",
    "narrow",
    "array",
    "astype",
    "float32",
    "masked_fill",
    "full_like",
];

/// Names whose values depend on random numbers, in one function.
struct Drawn<'s, 't> {
    draws: Vec<Node<'t>>,
    names: Vec<&'s str>,
    /// Attributes of `self` that are layers of `torch.nn`.
    layers: Vec<&'s str>,
    source: &'s str,
}

impl<'t> Machine<'t> {
    /// Records a call that certainly draws a random number in an exported model.
    pub fn note_draw(&mut self, path: &str, args: &Args<'t>) {
        let is_drawn = path.strip_prefix("random.").is_some_and(|name| self.draws_number(name, args))
            || path.strip_prefix("numpy.random.").is_some_and(|name| draws_array(name, args));
        let place = (self.file(), args.node);
        if is_drawn
            && self.coverage.is_active
            && self.quiet == 0
            && self.is_certain()
            && place.0 == 0
            && !args.open
            && !self.draws.contains(&place)
        {
            self.draws.push(place);
        }
    }

    /// Returns true if a function of `random` can return several numbers.
    fn draws_number(&self, name: &str, args: &Args<'t>) -> bool {
        let number = |at: usize, name: &str| args.get(at, name).and_then(Value::number);
        match name {
            "random" => true,
            "randint" => number(0, "a").zip(number(1, "b")).is_some_and(|(a, b)| a < b),
            "uniform" => differ(number(0, "a"), number(1, "b")),
            "gauss" | "normalvariate" => number(1, "sigma").is_some_and(|sigma| sigma != 0.0),
            "randrange" => match (number(0, "start"), args.get(1, "stop"), args.get(2, "step")) {
                (Some(stop), None, None) => stop > 1.0,
                (Some(start), Some(stop), None) => stop.number().is_some_and(|stop| stop - start > 1.0),
                _ => false,
            },
            "choice" => {
                let items = args.get(0, "seq").and_then(|items| self.items(items)).unwrap_or_default();
                let numbers: Option<Vec<f64>> = items.iter().map(Value::number).collect();
                numbers.is_some_and(|numbers| numbers.iter().any(|one| differ(Some(*one), Some(numbers[0]))))
            }
            _ => false,
        }
    }

    /// Reports random numbers on which a result of `forward` certainly depends.
    pub fn report_draws(&mut self) {
        let draws = std::mem::take(&mut self.draws);
        let mut reported = vec![];
        for (file, draw) in draws.iter().take(MAX_DRAWS) {
            let mut around = ancestors(*draw);
            let is_function = |node: &Node| matches!(node.kind(), "function_definition" | "lambda");
            let Some(function) = around.find(is_function) else { continue };
            if reported.contains(&function) || !self.is_drawn_result(*file, function, *draw) {
                continue;
            }
            reported.push(function);
            let message = format!(
                "`{}` draws once, during the export: the file keeps this number for all inputs",
                one_line(*draw, self.source(*file))
            );
            let place = Place::Source(self.place(*file, *draw));
            let finding = rule_ids::NUMPY_CONSTANT.at(Level::Warning).finding(message, place);
            self.tell([finding
                .note("exporters record operations of PyTorch, not random numbers of Python and NumPy")
                .help(
                    "draw only in training: `if self.training:`, or with `torch.rand`, which is exported",
                )]);
        }
    }

    /// Returns true if a result of `forward` certainly depends on a draw.
    fn is_drawn_result(&self, file: usize, function: Node<'t>, draw: Node<'t>) -> bool {
        let source = self.source(file);
        let class = function.parent().and_then(|body| body.parent());
        let class = class.filter(|class| class.kind() == "class_definition");
        let (Some(class), Some(body)) = (class, field(function, "body")) else { return false };
        let is_forward = field(function, "name").is_some_and(|name| text(name, source) == "forward");
        // A seed may be constant on purpose, and code that depends on the mode may not run after the export.
        let is_meant = ["training", "seed", "setstate", "set_state"];
        if !is_forward || is_meant.iter().any(|word| text(class, source).contains(word)) {
            return false;
        }
        let has_run = |node: Node<'t>| {
            let around = with_ancestors(node);
            let statement = around.into_iter().find(|one| one.kind().ends_with("_statement"));
            statement.is_some_and(|statement| self.coverage.has_certainly_run(file, statement))
        };
        let layers = layers_of(class, source);
        let mut drawn = Drawn { draws: vec![draw], names: vec![], layers, source };
        for node in within(body).into_iter().filter(|node| has_run(*node)) {
            if let "assignment" | "augmented_assignment" = node.kind()
                && let (Some(left), Some(right)) = (field(node, "left"), field(node, "right"))
            {
                drawn.assign(left, right);
            }
        }
        let returns = within(body).into_iter().filter(|node| node.kind() == "return_statement");
        let mut returns = returns.filter(|node| has_run(*node));
        returns.any(|node| children(node).first().is_some_and(|result| drawn.reaches(*result)))
    }
}

impl<'s> Drawn<'s, '_> {
    fn assign(&mut self, left: Node, right: Node) {
        let base = match left.kind() {
            "identifier" => left,
            "subscript" => match field(left, "value") {
                Some(base) if base.kind() == "identifier" => base,
                _ => return,
            },
            _ => return,
        };
        let is_indexed =
            left.kind() == "subscript" && children(left).into_iter().skip(1).any(|index| self.reaches(index));
        if is_indexed || self.reaches(right) {
            self.names.push(text(base, self.source));
        } else if left.kind() == "identifier" && left.parent().is_some_and(|one| one.kind() == "assignment") {
            self.names.retain(|name| *name != text(base, self.source));
        }
    }

    /// Returns true if an expression certainly depends on a draw.
    fn reaches(&self, node: Node) -> bool {
        let of = |name: &str| field(node, name).is_some_and(|part| self.reaches(part));
        match node.kind() {
            "identifier" => self.names.contains(&text(node, self.source)) && is_data(node, self.source),
            "parenthesized_expression"
            | "tuple"
            | "list"
            | "expression_list"
            | "argument_list"
            | "unary_operator"
            | "list_splat"
            | "slice"
            | "subscript" => children(node).into_iter().any(|part| self.reaches(part)),
            "keyword_argument" => of("value"),
            "binary_operator" => {
                let operator = field(node, "operator").map_or("", |operator| text(operator, self.source));
                // The other operand may be 0, as in `noise * self.scale`.
                let hides = |part: &str| {
                    let part = field(node, part);
                    let code = part.map_or("", |part| text(part, self.source));
                    code.parse::<f64>().is_ok_and(|number| number == 0.0)
                        || part.is_some_and(|part| part.kind() == "attribute")
                };
                match operator {
                    "+" | "-" => of("left") || of("right"),
                    "*" | "/" => !hides("left") && !hides("right") && (of("left") || of("right")),
                    _ => false,
                }
            }
            "call" => {
                if self.draws.iter().any(|draw| draw.byte_range() == node.byte_range()) {
                    return true;
                }
                let Some(callee) = field(node, "function") else { return false };
                let last = field(callee, "attribute").unwrap_or(callee);
                let name = text(last, self.source);
                let object = field(callee, "object");
                let is_own = object.is_some_and(|object| text(object, self.source) == "self");
                let carries = match is_own {
                    true => self.layers.contains(&name),
                    false => CARRIERS.contains(&name) || MAKERS.contains(&name),
                };
                let is_method = object.is_some_and(|object| !is_own && self.reaches(object));
                is_method
                    && (is_tensor_name(name) || MAKERS.contains(&name))
                    && !METADATA.contains(&name)
                    && !RESETS.contains(&name)
                    || carries && of("arguments")
            }
            _ => false,
        }
    }
}

/// Returns true if a function of `numpy.random` can return several numbers.
fn draws_array(name: &str, args: &Args) -> bool {
    let number = |at: usize, name: &str| args.get(at, name).and_then(Value::number);
    match name {
        "rand" | "randn" | "random" | "random_sample" | "standard_normal" => true,
        "uniform" => match (args.get(0, "low"), args.get(1, "high")) {
            (None, None) => true,
            (Some(_), None) => differ(number(0, "low"), Some(1.0)),
            (None, Some(_)) => differ(Some(0.0), number(1, "high")),
            _ => differ(number(0, "low"), number(1, "high")),
        },
        "normal" => args.get(1, "scale").is_none_or(|scale| scale.number().is_some_and(|scale| scale != 0.0)),
        "randint" => match args.get(1, "high") {
            None => number(0, "low").is_some_and(|high| high > 1.0),
            Some(high) => number(0, "low").zip(high.number()).is_some_and(|(low, high)| high - low > 1.0),
        },
        _ => false,
    }
}

/// Returns true if two numbers are known and differ.
fn differ(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() > 0.0)
}
