//! The names of a rule: what is bound, where, and whether it is used.

use std::sync::Arc;

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Many, Name, Operand};
use crate::graph::syntax::suggest::closest;
use crate::rules::rule::{AttrVar, AttrVarId, Count, ValueVar, VarId};
use crate::rules::syntax::ast::EntryKind;

use super::Faults;

fn unbound_attr(faults: &Faults, name: &Name, close: Option<&AttrVar>, below: Option<&Name>) -> Finding {
    let message = format!("`@{}` is not bound", name.text);
    if let Some(below) = below {
        return faults
            .at(name.span, format!("{message} yet"))
            .related(faults.place(below.span), "it is bound here, below");
    }
    match close {
        Some(close) => faults
            .at(name.span, format!("{message}; did you mean `@{}`?", close.name))
            .related(faults.place(close.span), format!("`@{}` is bound here", close.name)),
        None => faults.at(name.span, message).help("an attribute is bound in the pattern: `<perm = @p>`"),
    }
}

fn unknown_value(faults: &Faults, name: &Name, close: Option<&ValueVar>) -> Finding {
    let message = format!("`{}` is not a value of the pattern", name.text);
    match close {
        Some(close) => faults
            .at(name.span, format!("{message}; did you mean `{}`?", close.name))
            .related(faults.place(close.span), format!("`{}` stands here", close.name)),
        None => faults.at(name.span, message),
    }
}

fn bound_twice(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults
        .at(name.span, format!("`@{}` is bound already", name.text))
        .related(faults.place(first), "the first binding is here")
        .help("`let` gives a new name; equality is a condition: `where { @a == … }`")
}

fn unused_attr(faults: &Faults, var: &AttrVar, by_let: bool) -> Finding {
    let help = if by_let { "leave the `let` out" } else { "write `_` where an attribute may be anything" };
    faults.warning(var.span, format!("`@{}` is bound and never used", var.name)).help(help)
}

fn other_count(faults: &Faults, operand: &Operand, first: &ValueVar) -> Finding {
    let written = match first.count {
        Count::One => first.name.to_string(),
        Count::Optional => format!("{}?", first.name),
        Count::Many => format!("{}...", first.name),
    };
    faults
        .at(operand.span, format!("`{}` is written `{written}` elsewhere", first.name))
        .related(faults.place(first.span), "here")
        .help("a name stands for as many values everywhere: `x` for one, `b?` for one or none, `xs...` for any number")
}

/// The names of one direction of a rule.
pub struct Scope<'a> {
    values: Vec<ValueVar>,
    attrs: Vec<AttrVar>,
    attr_uses: Vec<u32>,
    names: Names,
    /// Variables that `let` binds, bound yet or not.
    lets: Vec<&'a Name>,
    /// Whether they are of a rule that says what is equal.
    pub is_of_equalities: bool,
}

/// The names that are in force: in a function only its own are.
#[derive(Clone, Default)]
pub struct Names {
    values: Vec<(Arc<str>, VarId)>,
    attrs: Vec<(Arc<str>, AttrVarId)>,
}

impl<'a> Scope<'a> {
    pub fn new(steps: &'a [EntryKind]) -> Self {
        let lets = steps.iter().filter_map(|step| match step {
            EntryKind::Let { var, .. } => Some(var),
            _ => None,
        });
        Scope {
            values: Vec::new(),
            attrs: Vec::new(),
            attr_uses: Vec::new(),
            names: Names::default(),
            lets: lets.collect(),
            is_of_equalities: false,
        }
    }

    pub fn values(&self) -> &[ValueVar] {
        &self.values
    }

    pub fn attr_vars(&self) -> Vec<AttrVar> {
        self.attrs.clone()
    }

    pub fn var(&self, id: VarId) -> &ValueVar {
        &self.values[usize::from(id.0)]
    }

    pub fn find(&self, name: &str) -> Option<VarId> {
        self.names.values.iter().rfind(|(other, _)| **other == *name).map(|(_, id)| *id)
    }

    fn find_attr(&self, name: &str) -> Option<AttrVarId> {
        self.names.attrs.iter().rfind(|(other, _)| **other == *name).map(|(_, id)| *id)
    }

    /// Begins a function, which sees no names but its own; what was in force is given back to
    /// [`Scope::restore`].
    pub fn enter(&mut self) -> Names {
        std::mem::take(&mut self.names)
    }

    /// The names in force, to which [`Scope::restore`] goes back.
    pub fn names(&self) -> Names {
        self.names.clone()
    }

    pub fn restore(&mut self, names: Names) {
        self.names = names;
    }

    /// A new value; one without a name where `name` is empty.
    pub fn add(&mut self, name: &Arc<str>, count: Count, def: Option<(u16, u16)>, span: Span) -> VarId {
        let id = VarId(u16::try_from(self.values.len()).unwrap_or(u16::MAX));
        self.values.push(ValueVar { name: name.clone(), count, def, span });
        if !name.is_empty() {
            self.names.values.push((name.clone(), id));
        }
        id
    }

    /// The value of that name; reported where there is none.
    pub fn value(&self, name: &Name, faults: &mut Faults) -> Option<VarId> {
        let found = self.find(&name.text);
        if found.is_none() {
            let names = self.names.values.iter().map(|(name, _)| &**name);
            let close = closest(&name.text, names).and_then(|close| self.find(close)).map(|id| self.var(id));
            faults.push_if_whole(unknown_value(faults, name, close));
        }
        found
    }

    /// Whether `operand` is written for as many values as its variable has; reported where not.
    pub fn same_count(&self, operand: &Operand, id: VarId, faults: &mut Faults) -> bool {
        let same = self.var(id).count == count(operand.many);
        if !same {
            faults.push(other_count(faults, operand, self.var(id)));
        }
        same
    }

    /// Whether what is written before `=` is written for as many values as its variable has; a name alone is
    /// enough, as an optional output is one or none by itself.
    pub fn same_count_as_made(&self, operand: &Operand, id: VarId, faults: &mut Faults) -> bool {
        operand.many == Many::One && self.var(id).count == Count::Optional
            || self.same_count(operand, id, faults)
    }

    /// Binds `@name` in the pattern, or finds it there: a repeated one must be equal.
    pub fn bind(&mut self, name: &Name) -> AttrVarId {
        match self.find_attr(&name.text) {
            Some(id) => self.used(id),
            None => self.add_attr(name),
        }
    }

    /// Binds `@name` by `let`, where it must be new.
    pub fn bind_let(&mut self, name: &Name, faults: &mut Faults) -> Option<AttrVarId> {
        if let Some(first) = self.find_attr(&name.text) {
            faults.push(bound_twice(faults, name, self.attrs[usize::from(first.0)].span));
            return None;
        }
        Some(self.add_attr(name))
    }

    /// Binds a name that need not be used: that of an operator, a parameter, a place in a list.
    pub fn bind_unused(&mut self, name: &Name) -> AttrVarId {
        let id = self.add_attr(name);
        self.used(id)
    }

    fn used(&mut self, id: AttrVarId) -> AttrVarId {
        self.attr_uses[usize::from(id.0)] += 1;
        id
    }

    fn add_attr(&mut self, name: &Name) -> AttrVarId {
        let id = AttrVarId(u16::try_from(self.attrs.len()).unwrap_or(u16::MAX));
        self.attrs.push(AttrVar { name: name.text.clone(), span: name.span });
        self.attr_uses.push(0);
        self.names.attrs.push((name.text.clone(), id));
        id
    }

    /// Uses `@name`; reported where it is not bound.
    pub fn attr(&mut self, name: &Name, faults: &mut Faults) -> Option<AttrVarId> {
        if let Some(id) = self.find_attr(&name.text) {
            return Some(self.used(id));
        }
        let below = self.lets.iter().copied().find(|other| other.text == name.text);
        let names = self.names.attrs.iter().map(|(name, _)| &**name);
        let close = closest(&name.text, names).and_then(|close| self.find_attr(close));
        let close = close.map(|id| &self.attrs[usize::from(id.0)]);
        faults.push_if_whole(unbound_attr(faults, name, close, below));
        None
    }

    pub fn report_unused(&self, faults: &mut Faults) {
        for (attr, uses) in self.attrs.iter().zip(&self.attr_uses) {
            if *uses == 0 {
                let by_let = self.lets.iter().any(|name| name.span == attr.span);
                faults.push_if_whole(unused_attr(faults, attr, by_let));
            }
        }
    }
}

/// How many values an operand is written for.
pub fn count(many: Many) -> Count {
    match many {
        Many::One => Count::One,
        Many::Optional => Count::Optional,
        Many::Any => Count::Many,
    }
}
