//! Scores of attention layers that a float scales: `(q @ k.T * math.log(n)).softmax(-1) @ v`.

use tree_sitter::Node;

use super::super::syntax::{ancestors, children, field, text, within};
use super::machine::Machine;
use super::record::{Record, Taken};
use super::state_flow::is_data;
use super::value::Value;

/// Stage of an attention layer that computed a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Scores,
    Weights,
    /// A product of the weights: it differs for each other scale.
    Mixed,
}

/// Methods that keep the elements of a tensor.
const LAYOUT: [&str; 10] = [
    "transpose",
    "permute",
    "reshape",
    "view",
    "flatten",
    "contiguous",
    "float",
    "to",
    "type_as",
    "masked_fill",
];

impl<'t> Machine<'t> {
    /// Records a product or quotient of a tensor and a float, while a model runs with other sizes.
    pub fn note_scale(&mut self, operator: &str, left: &Value<'t>, right: &Value<'t>, node: Node<'t>) {
        let file = self.file();
        let scale = match (operator, left, right) {
            ("*" | "/", Value::Tensor(_), Value::Float(scale))
            | ("*", Value::Float(scale), Value::Tensor(_)) => *scale,
            _ => return,
        };
        if let Some(record) = &mut self.record {
            record.scales.push((file, node, scale));
        }
    }

    /// Returns true if the only float that differs in a replay scales the scores of an attention layer.
    pub fn scales_scores(&self, replay: &Record<'t>, natural: &Record<'t>) -> bool {
        let mut floats = replay.differing.iter().filter(|(kind, ..)| *kind == Taken::Float);
        let Some((_, float_file, float, _)) = floats.next() else { return false };
        let is_same = replay.scales.len() == natural.scales.len()
            && replay.scales.iter().zip(&natural.scales).all(|(a, b)| (a.0, a.1) == (b.0, b.1));
        if !is_same || floats.any(|(_, file, node, _)| (file, node) != (float_file, float)) {
            return false;
        }
        let mut differing = replay.scales.iter().zip(&natural.scales).filter(|(a, b)| a.2 != b.2);
        let Some(((file, scaled, _), _)) = differing.next() else { return false };
        !differing.any(|((other_file, other, _), _)| (other_file, other) != (file, scaled))
            && file == float_file
            && !self.file_mentions(*file, &["is_tracing", "is_in_onnx_export"])
            && returns_mixed(*scaled, self.source(*file))
    }
}

/// Returns true if the function around an expression returns a product of its softmax.
fn returns_mixed(scaled: Node, source: &str) -> bool {
    let mut around = ancestors(scaled);
    let Some(function) = around.find(|node| matches!(node.kind(), "function_definition" | "lambda")) else {
        return false;
    };
    let is_forward = field(function, "name").is_some_and(|name| text(name, source) == "forward");
    let Some(body) = field(function, "body").filter(|_| is_forward) else { return false };
    let mut names: Vec<(&str, Stage)> = vec![];
    for statement in children(body) {
        match statement.kind() {
            "return_statement" => {
                let value = children(statement).first().copied();
                return value.and_then(|value| stage(value, scaled, &names, source)) == Some(Stage::Mixed);
            }
            "expression_statement" => {
                let assigned = children(statement).first().copied();
                let assigned = assigned.filter(|node| node.kind() == "assignment");
                let Some((left, right)) =
                    assigned.and_then(|node| Some((field(node, "left")?, field(node, "right")?)))
                else {
                    continue;
                };
                let found = stage(right, scaled, &names, source);
                let targets: Vec<&str> = within(left)
                    .into_iter()
                    .filter(|node| node.kind() == "identifier")
                    .map(|node| text(node, source))
                    .collect();
                names.retain(|(name, _)| !targets.contains(name));
                if let Some(found) = found.filter(|_| left.kind() == "identifier") {
                    names.push((text(left, source), found));
                }
            }
            // A branch may replace the values.
            _ if within(statement).iter().any(|node| {
                node.kind() == "identifier" && names.iter().any(|(name, _)| *name == text(*node, source))
            }) =>
            {
                return false;
            }
            _ => {}
        }
    }
    false
}

fn stage(node: Node, scaled: Node, names: &[(&str, Stage)], source: &str) -> Option<Stage> {
    let of = |node: Option<Node>| node.and_then(|node| stage(node, scaled, names, source));
    if node == scaled {
        return Some(Stage::Scores);
    }
    match node.kind() {
        "identifier" => {
            let name = text(node, source);
            names
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, stage)| *stage)
                .filter(|_| is_data(node, source))
        }
        "parenthesized_expression" => of(children(node).first().copied()),
        "binary_operator" => {
            let operator = field(node, "operator").map_or("", |operator| text(operator, source));
            let (left, right) = (of(field(node, "left")), of(field(node, "right")));
            match (operator, left, right) {
                ("+", Some(stage), None) | ("+", None, Some(stage)) => Some(stage),
                ("@", Some(Stage::Weights), None) => Some(Stage::Mixed),
                ("@", Some(Stage::Mixed), None) | ("@", None, Some(Stage::Mixed)) => Some(Stage::Mixed),
                _ => None,
            }
        }
        "call" => {
            let callee = field(node, "function")?;
            let name = text(field(callee, "attribute").unwrap_or(callee), source);
            let object = of(field(callee, "object"));
            let arguments = field(node, "arguments").map(children).unwrap_or_default();
            let first = of(arguments.first().copied());
            match (name, object, first) {
                ("softmax", Some(Stage::Scores), _) | ("softmax", None, Some(Stage::Scores)) => {
                    Some(Stage::Weights)
                }
                ("matmul" | "bmm", Some(Stage::Weights), None)
                | ("matmul" | "bmm", None, Some(Stage::Weights)) => Some(Stage::Mixed),
                ("dropout", None, Some(stage)) => Some(stage),
                (_, Some(stage), None) if LAYOUT.contains(&name) => Some(stage),
                // A projection of the result: `self.proj(y)`.
                (_, None, Some(Stage::Mixed))
                    if field(callee, "object").is_some_and(|object| text(object, source) == "self") =>
                {
                    Some(Stage::Mixed)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
