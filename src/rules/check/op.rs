//! Operators, their attributes and arities, checked against the schema.
//!
//! Domains without a schema are custom: their operators are not checked.

use std::sync::Arc;

use crate::diag::Finding;
use crate::diag::counted;
use crate::graph::AttrKind;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Op};
use crate::graph::syntax::suggest::closest;
use crate::rules::rule::{Count, OpPat};
use crate::rules::syntax::ast::{CallAst, ExprAst, ExprAstKind};
use crate::schema::{self, Schema};

use super::Faults;

/// Domains to suggest for a misspelled domain.
const DOMAINS: [&str; 3] = ["com.microsoft", "ai.onnx.ml", "ai.onnx.preview.training"];

fn unknown_op(faults: &Faults, op: &Op) -> Finding {
    let name = &*op.name.text;
    let finding = |suffix: &str| {
        let domain = if op.domain.is_empty() { "ai.onnx" } else { &op.domain };
        faults.at(op.span, format!("`{domain}` has no operator `{name}`{suffix}"))
    };
    if let Some(close) = schema::nearest(&op.domain, name) {
        return finding(&format!("; did you mean `{close}`?"));
    }
    let domains: Vec<_> = schema::domains_of(name).map(|domain| format!("`{domain}.{name}`")).collect();
    match domains.is_empty() {
        true => finding(""),
        false => finding("").help(format!("use {}", domains.join(" or "))),
    }
}

fn unknown_domain(faults: &Faults, op: &Op, close: &str) -> Finding {
    faults.at(op.span, format!("unknown domain `{}`; did you mean `{close}`?", op.domain))
}

fn unknown_epoch(faults: &Faults, op: &Op, epoch: i64, span: Span) -> Finding {
    let epochs: Vec<_> = schema::epochs(&op.domain, &op.name.text).map(|epoch| format!("@{epoch}")).collect();
    faults
        .at(span, format!("`{}` has no semantics that begin at version {epoch}", op.name.text))
        .help(format!("use a version at which its semantics begin or change: {}", epochs.join(", ")))
}

fn unknown_attribute(faults: &Faults, op: &Op, name: &Name, known: &[&str]) -> Finding {
    let message = format!("`{}` has no attribute `{}`", op_name(op), name.text);
    match closest(&name.text, known.iter().copied()) {
        Some(close) => faults.at(name.span, format!("{message}; did you mean `{close}`?")),
        None if known.is_empty() => {
            faults.at(name.span, message).help("remove it: the operator has no attributes")
        }
        None => faults.at(name.span, message).help(format!("it has {}", known.join(", "))),
    }
}

fn attribute_twice(faults: &Faults, name: &Name, first: &Name) -> Finding {
    faults
        .at(name.span, format!("`{}` is written twice", name.text))
        .related(faults.place(first.span), "the first one is here")
}

fn missing_attribute(faults: &Faults, op: &Op, name: &str) -> Finding {
    faults
        .at(op.span, format!("`{}` requires the attribute `{name}`", op_name(op)))
        .help(format!("write `{name} = …`, `{name} = _` for any value, or `..` for any other attributes"))
}

fn wrong_arity(
    faults: &Faults,
    op: &Op,
    noun: &str,
    written: usize,
    (least, most): (usize, usize),
) -> Finding {
    let takes = match (least, most) {
        (least, usize::MAX) => format!("at least {}", counted(least, noun)),
        (least, most) if least == most => counted(least, noun),
        (least, most) => format!("{least} to {}", counted(most, noun)),
    };
    faults.at(op.span, format!("`{}` has {takes}, not {written}", op_name(op)))
}

fn wrong_kind(faults: &Faults, name: &Name, value: &ExprAst, kind: AttrKind, found: &str) -> Finding {
    faults.at(value.span, format!("`{}` is of kind {}, and this is {found}", name.text, kind.name()))
}

/// Formats an operator as `Softmax@13`.
fn op_name(op: &Op) -> String {
    match op.epoch {
        Some((epoch, _)) => format!("{}@{epoch}", op.name.text),
        None => op.name.text.to_string(),
    }
}

/// Operator with the schema versions that a node may have.
pub struct Versions {
    pub op: OpPat,
    schemas: Vec<&'static Schema>,
}

/// Finds the versions of an operator; reports an unknown operator.
pub fn versions(op: &Op, faults: &mut Faults) -> Option<Versions> {
    let domain: Arc<str> = if &*op.domain == "ai.onnx" { Arc::from("") } else { op.domain.clone() };
    let epoch = op.epoch.map(|(epoch, _)| u16::try_from(epoch).unwrap_or(0));
    let pattern = OpPat { domain, name: op.name.text.clone(), epoch, span: op.span };
    if schema::domain(&op.domain).is_none() && *op.domain != *schema::aten::DOMAIN {
        if let Some(close) = closest(&op.domain, DOMAINS) {
            faults.push(unknown_domain(faults, op, close));
            return None;
        }
        return Some(Versions { op: pattern, schemas: Vec::new() });
    }
    let all = schema::versions(&op.domain, &op.name.text);
    if all.is_empty() {
        faults.push(unknown_op(faults, op));
        return None;
    }
    let schemas: Vec<_> =
        all.iter().filter(|schema| epoch.is_none_or(|epoch| schema.epoch == epoch)).collect();
    if let (true, Some((number, span))) = (schemas.is_empty(), op.epoch) {
        faults.push(unknown_epoch(faults, op, number, span));
        return None;
    }
    Some(Versions { op: pattern, schemas })
}

impl Versions {
    /// Returns the known versions, oldest first.
    pub fn schemas(&self) -> &[&'static Schema] {
        &self.schemas
    }

    /// Resolves an ai.onnx operator that is written without a version, to the version in force at `opset`.
    /// If the operator was added after `opset`, resolves it to its first version.
    pub fn at(self, opset: Option<i64>) -> OpPat {
        let at = opset.filter(|_| self.op.epoch.is_none() && self.op.domain.is_empty());
        let Some(opset) = at.and_then(|opset| u16::try_from(opset).ok()) else { return self.op };
        let in_force = schema::lookup("", &self.op.name, opset).or(self.schemas.first().copied());
        OpPat { epoch: in_force.map(|schema| schema.epoch), ..self.op }
    }

    /// Returns the kind of an attribute, or `None` if the operator or the attribute is unknown.
    pub fn kind(&self, name: &str) -> Option<AttrKind> {
        self.schemas.iter().rev().find_map(|schema| schema.attr(name)).map(|spec| spec.kind)
    }

    /// Checks that an operator version accepts the number of inputs, and likewise the number of outputs.
    pub fn check_counts(&self, op: &Op, inputs: &[Count], outputs: &[Count], faults: &mut Faults) {
        let Some(newest) = self.schemas.last() else { return };
        let written = inputs.len();
        let bounds = |schema: &Schema| (usize::from(schema.min_inputs), most(schema.max_inputs));
        let fits = |schema: &Schema| {
            let (least, most) = bounds(schema);
            surely(inputs) <= most && (inputs.contains(&Count::Many) || written >= least)
        };
        if !self.schemas.iter().any(|schema| fits(schema)) {
            faults.push(wrong_arity(faults, op, "input", written, bounds(newest)));
        }
        let written = outputs.iter().filter(|count| **count != Count::Many).count();
        if self.schemas.iter().all(|schema| written > most(schema.max_outputs)) {
            let bounds = (usize::from(newest.min_outputs), most(newest.max_outputs));
            faults.push(wrong_arity(faults, op, "output", written, bounds));
        }
    }

    /// Checks that attributes are known, not repeated, and, without `..`, that no required one is missing.
    /// An attribute is required if all versions of the operator require it.
    pub fn check_attrs(&self, call: &CallAst, faults: &mut Faults) {
        for (index, attr) in call.attrs.iter().enumerate() {
            if let Some(first) = call.attrs[..index].iter().find(|other| other.name.text == attr.name.text) {
                faults.push(attribute_twice(faults, &attr.name, &first.name));
            }
            if !self.schemas.is_empty() && self.kind(&attr.name.text).is_none() {
                let mut known: Vec<&str> =
                    self.schemas.iter().flat_map(|schema| schema.attrs).map(|spec| spec.name).collect();
                known.sort_unstable();
                known.dedup();
                faults.push(unknown_attribute(faults, &call.op, &attr.name, &known));
            }
        }
        if call.rest.is_some() {
            return;
        }
        let Some((newest, older)) = self.schemas.split_last() else { return };
        let required = newest.attrs.iter().filter(|spec| spec.required);
        for spec in required {
            let always = older.iter().all(|schema| schema.attr(spec.name).is_some_and(|spec| spec.required));
            if always && !call.attrs.iter().any(|attr| &*attr.name.text == spec.name) {
                faults.push(missing_attribute(faults, &call.op, spec.name));
            }
        }
    }

    /// Reports a literal that cannot have the attribute kind required by the schema.
    pub fn check_kind(&self, name: &Name, value: &ExprAst, faults: &mut Faults) {
        let Some(kind) = self.kind(&name.text) else { return };
        if let Some((found, kinds)) = literal_kinds(value)
            && !kinds.contains(&kind)
        {
            faults.push(wrong_kind(faults, name, value, kind, found));
        }
    }
}

/// Returns the minimum number of values; the operands `b?` and `xs...` may bind no value.
fn surely(operands: &[Count]) -> usize {
    operands.iter().filter(|count| **count == Count::One).count()
}

fn most(count: u16) -> usize {
    if count == u16::MAX { usize::MAX } else { usize::from(count) }
}

/// Describes a literal and lists the attribute kinds it can have.
/// Returns `None` for expressions whose kind is only known when evaluated.
fn literal_kinds(value: &ExprAst) -> Option<(&'static str, &'static [AttrKind])> {
    use AttrKind::*;
    Some(match &value.kind {
        ExprAstKind::Int(_) => ("an integer", &[Int, Float]),
        ExprAstKind::Bool(_) => ("a truth value", &[Int]),
        ExprAstKind::Elem(_) => ("an element type", &[Int]),
        ExprAstKind::Float(_) => ("a float", &[Float]),
        ExprAstKind::Str(_) => ("a string", &[String]),
        ExprAstKind::Tensor(_) => ("a tensor", &[Tensor]),
        ExprAstKind::List(items) => match items.first().map(|item| &item.kind) {
            Some(ExprAstKind::Str(_)) => ("a list of strings", &[Strings]),
            Some(ExprAstKind::Float(_)) => ("a list of floats", &[Floats]),
            Some(ExprAstKind::Int(_)) => ("a list of integers", &[Ints, Floats]),
            _ => ("a list", &[Ints, Floats, Strings, Tensors, Graphs, Types, SparseTensors]),
        },
        _ => return None,
    })
}
