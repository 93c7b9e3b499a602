//! Renders the messages of pattern rules for a match.

use crate::graph::syntax::dims;
use crate::graph::syntax::number::write_float;

use super::datum::Datum;
use super::eval::Env;
use super::host::Host;
use super::matcher::{Binding, Match};
use super::rule::{Part, Template};

/// Maximum number of list items to print.
const SHOWN: usize = 8;

/// Renders `template` for one match. Undefined expressions are printed as `?`.
pub fn render<H: Host>(template: &Template, host: &H, found: &Match<H::Value, H::Node>) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Value(var) => match found.value(*var) {
            Some(Binding::One(value)) => host.name(*value),
            Some(Binding::Many(values)) => {
                values.iter().map(|&value| host.name(value)).collect::<Vec<_>>().join(", ")
            }
            Some(Binding::Absent) => "nothing".to_owned(),
            None => "?".to_owned(),
        },
        Part::Expr(expr) => Env::new(host, found).eval(expr).map_or("?".to_owned(), |datum| text(&datum)),
    };
    template.parts.iter().map(part).collect()
}

/// Formats a datum as in ONNX text; data without a short form are described by their kind.
pub fn text(datum: &Datum) -> String {
    match datum {
        Datum::Absent => "nothing".to_owned(),
        Datum::Bool(truth) => truth.to_string(),
        Datum::Int(int) => int.to_string(),
        Datum::Float(float) => write_float(*float),
        Datum::Str(text) => text.to_string(),
        Datum::Elem(elem) => elem.to_string(),
        Datum::Dim(dim) => dim.to_string(),
        Datum::List(items) => {
            let mut shown: Vec<String> = items.iter().take(SHOWN).map(text).collect();
            if items.len() > SHOWN {
                shown.push(format!("…({})", items.len()));
            }
            format!("[{}]", shown.join(", "))
        }
        Datum::Tensor(tensor) => format!("a tensor of shape {}", dims(&tensor.dims)),
        Datum::Other(_) => "an attribute".to_owned(),
    }
}
