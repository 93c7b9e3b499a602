//! Reasons why no rule lowers a node: its arguments, and the condition that fails.

use crate::graph::NodeId;
use crate::rules::matcher::{self, Failure};
use crate::rules::message::text;
use crate::rules::plain::PlainHost;
use crate::rules::rule::{Direction, Rule};
use crate::torch::types::torch_dtype;
use crate::torch::{Argument, Input, Node, Trace, Type};

/// Maximum number of list items that a message shows.
const SHOWN: usize = 6;

/// Failed condition of the rule that comes closest: by matched nodes, then by steps that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Code of the rule.
    rule: String,
    condition: String,
    /// Facts that the condition uses, with their values; `None` if a fact is unknown.
    saw: Vec<(String, Option<String>)>,
}

impl Reason {
    /// Returns the reason why none of the rules lowers a node; `None` if no rule fails at a condition.
    pub fn new(host: &PlainHost, rules: &[(&Rule, &Direction)], node: NodeId) -> Option<Self> {
        let failures = rules.iter().filter_map(|&(rule, direction)| {
            let (progress, failure) = matcher::explain(host, direction, node)?;
            let Failure::Condition { span, saw, .. } = failure else { return None };
            Some((progress, rule, span, saw))
        });
        // If several rules match equally many nodes and conditions, the first of them is the most general.
        let all: Vec<_> = failures.collect();
        let (_, rule, span, saw) = all.into_iter().rev().max_by_key(|(progress, ..)| *progress)?;
        let source = &rule.source.source;
        let flat = |span| source.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let saw = saw.into_iter().map(|(span, datum)| (flat(span), datum.map(|datum| text(&datum))));
        let mut saw: Vec<_> = saw.collect();
        saw.dedup();
        Some(Reason { rule: rule.code.to_string(), condition: flat(span), saw })
    }

    /// Returns a note with the condition and the facts that it uses.
    pub fn note(&self) -> String {
        let facts = self.saw.iter().map(|(name, value)| match value {
            Some(value) => format!("`{name}` is {value}"),
            None => format!("`{name}` is unknown"),
        });
        let facts = facts.collect::<Vec<_>>().join(", ");
        let because = if facts.is_empty() { String::new() } else { format!(", but {facts}") };
        format!("rule {} requires `{}`{because}", self.rule, self.condition)
    }
}

/// Describes the arguments of a call: "`input` is torch.uint8[1, 3, 4, 4], `size` is [8, 8]".
pub fn arguments(trace: &Trace, node: &Node) -> String {
    // No rule depends on the device or the layout.
    let is_relevant =
        |input: &Input| !matches!(input.name.as_deref(), Some("device" | "layout" | "pin_memory"));
    let inputs = node.inputs.iter().enumerate().filter(|(_, input)| is_relevant(input));
    let given = inputs.map(|(place, input)| {
        let name = input.name.clone().unwrap_or_else(|| format!("argument {}", place + 1).into());
        format!("`{name}` is {}", shown(trace, &input.argument))
    });
    given.collect::<Vec<_>>().join(", ")
}

fn shown(trace: &Trace, argument: &Argument) -> String {
    match trace.see(argument) {
        Argument::Value(value) => of_type(&trace.value(*value).ty),
        Argument::Int(int) => int.to_string(),
        Argument::Float(float) => float.to_string(),
        Argument::Complex(real, imaginary) => format!("{real}{imaginary:+}j"),
        Argument::Bool(true) => "True".to_owned(),
        Argument::Bool(false) => "False".to_owned(),
        Argument::Str(text) => format!("\"{text}\""),
        Argument::Elem(elem) => torch_dtype(*elem).to_owned(),
        Argument::None => "None".to_owned(),
        Argument::List(members) => {
            let mut items: Vec<_> = members.iter().take(SHOWN).map(|one| shown(trace, one)).collect();
            if members.len() > SHOWN {
                items.push(format!("… ({} items)", members.len()));
            }
            format!("[{}]", items.join(", "))
        }
        Argument::Tensor(_) => "a constant tensor".to_owned(),
        Argument::Other(text) => text.to_string(),
    }
}

fn of_type(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => {
            let elem = tensor.elem.map_or("a tensor", torch_dtype);
            let sizes = tensor.shape.as_ref();
            let sizes = sizes.map(|sizes| sizes.iter().map(ToString::to_string).collect::<Vec<_>>());
            format!("{elem}{}", sizes.map_or(String::new(), |sizes| format!("[{}]", sizes.join(", "))))
        }
        Type::Int => "a computed integer".to_owned(),
        Type::Float => "a computed number".to_owned(),
        Type::Bool => "a computed boolean".to_owned(),
        _ => "computed".to_owned(),
    }
}
