//! Scope of a rule: which names are bound, where, and whether they are used.

use std::sync::Arc;

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Many, Name, Operand};
use crate::graph::syntax::suggest::closest;
use crate::rules::rule::{Absent, AttrVar, AttrVarId, Count, ValueVar, VarId};
use crate::rules::syntax::ast::EntryKind;

use super::Faults;
use super::combinations::Partial;
use super::library::Library;

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
        None => faults.at(name.span, message).help("bind the attribute in the pattern: `<perm = @p>`"),
    }
}

fn unknown_value(faults: &Faults, name: &Name, close: Option<&ValueVar>) -> Finding {
    let message = format!("`{}` is not a value of the pattern", name.text);
    match close {
        Some(close) => faults
            .at(name.span, format!("{message}; did you mean `{}`?", close.name))
            .related(faults.place(close.span), format!("`{}` is here", close.name)),
        None => faults.at(name.span, message),
    }
}

fn bound_twice(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults
        .at(name.span, format!("`@{}` is already bound", name.text))
        .related(faults.place(first), "the first binding is here")
        .help("choose a new name, or compare with `where { @a == … }`")
}

fn unused_attr(faults: &Faults, var: &AttrVar, by_let: bool) -> Finding {
    let help = if by_let { "remove the `let`" } else { "write `_` to match any value" };
    faults.warning(var.span, format!("`@{}` is bound but never used", var.name)).help(help)
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
        .help("write a name in one way everywhere: `x` for one value, `b?` for at most one, `xs...` for any number")
}

/// Names of one direction of a rule.
pub struct Scope<'a> {
    values: Vec<ValueVar>,
    attrs: Vec<AttrVar>,
    attr_uses: Vec<u32>,
    names: Names,
    /// Variables that the `let` entries of the rule bind, including those that are not checked yet.
    lets: Vec<&'a Name>,
    /// Whether the rule asserts an equality.
    pub is_of_equalities: bool,
    /// Names that some combinations of alternatives do not bind.
    partial: Vec<Arc<str>>,
    absent: Vec<VarId>,
    /// Functions that expressions may call.
    pub(super) library: Option<Library<'a>>,
    /// Functions whose expressions are being expanded, innermost last.
    pub(super) calls: Vec<Arc<str>>,
    /// Number of functions expanded so far, which makes their names unique.
    pub(super) serial: usize,
}

/// Visible names. Inside a function, only the function's own names are visible.
#[derive(Clone, Default)]
pub struct Names {
    values: Vec<(Arc<str>, VarId)>,
    attrs: Vec<(Arc<str>, AttrVarId)>,
}

impl<'a> Scope<'a> {
    /// Creates an empty scope; `steps` are searched for variables bound by `let`.
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
            partial: Vec::new(),
            absent: Vec::new(),
            library: None,
            calls: Vec::new(),
            serial: 0,
        }
    }

    /// Adds a library, whose functions expressions can call.
    pub fn with_library(self, library: Library<'a>) -> Self {
        Scope { library: Some(library), ..self }
    }

    /// Returns all value variables.
    pub fn values(&self) -> &[ValueVar] {
        &self.values
    }

    /// Returns all attribute variables.
    pub fn attr_vars(&self) -> Vec<AttrVar> {
        self.attrs.clone()
    }

    /// Returns a value variable.
    pub fn var(&self, id: VarId) -> &ValueVar {
        &self.values[usize::from(id.0)]
    }

    /// Looks up a visible value by name.
    pub fn find(&self, name: &str) -> Option<VarId> {
        self.names.values.iter().rfind(|(other, _)| **other == *name).map(|(_, id)| *id)
    }

    fn find_attr(&self, name: &str) -> Option<AttrVarId> {
        self.names.attrs.iter().rfind(|(other, _)| **other == *name).map(|(_, id)| *id)
    }

    /// Enters a function, in which only its own names are visible.
    /// Returns the outer names for [`Scope::restore`].
    pub fn enter(&mut self) -> Names {
        std::mem::take(&mut self.names)
    }

    /// Returns the visible names for [`Scope::restore`].
    pub fn names(&self) -> Names {
        self.names.clone()
    }

    /// Makes the given names the visible ones.
    pub fn restore(&mut self, names: Names) {
        self.names = names;
    }

    /// Adds a value; it is anonymous if `name` is empty.
    pub fn add(&mut self, name: &Arc<str>, count: Count, def: Option<(u16, u16)>, span: Span) -> VarId {
        let id = VarId(u16::try_from(self.values.len()).unwrap_or(u16::MAX));
        // The rule does not contain the names in the body of an expanded pattern, so messages must not show them.
        let shown = if name.contains('#') { "".into() } else { name.clone() };
        self.values.push(ValueVar { name: shown, count, def, span });
        if !name.is_empty() {
            self.names.values.push((name.clone(), id));
        }
        id
    }

    /// Gives a value a second name.
    pub fn alias(&mut self, name: &Arc<str>, id: VarId) {
        self.names.values.push((name.clone(), id));
    }

    /// Adds a variable without a value for each name that another combination of alternatives binds.
    pub fn bind_absent(&mut self, partial: &Partial) -> Absent {
        self.partial = partial.values.iter().map(|operand| operand.name.text.clone()).collect();
        for operand in &partial.values {
            if self.find(&operand.name.text).is_none() {
                let count = if operand.many == Many::Any { Count::Many } else { Count::Optional };
                let id = self.add(&operand.name.text, count, None, operand.span);
                self.absent.push(id);
            }
        }
        let missing = partial.attrs.iter().filter(|name| self.find_attr(&name.text).is_none());
        let missing: Vec<&Name> = missing.collect();
        let attrs = missing.into_iter().map(|name| self.bind_unused(name)).collect();
        Absent { values: self.absent.clone(), attrs }
    }

    /// Returns true for a variable that only combinations of alternatives other than the current one bind.
    pub fn is_absent(&self, id: VarId) -> bool {
        self.absent.contains(&id)
    }

    /// Returns how many values a use of a name stands for.
    /// A variable that the current combination of alternatives does not bind counts as one value, as in the
    /// combinations that bind it, unless it is a list.
    pub fn used_count(&self, id: VarId) -> Count {
        match self.var(id).count {
            Count::Optional if self.is_absent(id) => Count::One,
            count => count,
        }
    }

    /// Looks up a value by name; reports an unknown name.
    pub fn value(&self, name: &Name, faults: &mut Faults) -> Option<VarId> {
        let found = self.find(&name.text);
        if found.is_none() {
            let names = self.names.values.iter().map(|(name, _)| &**name);
            let close = closest(&name.text, names).and_then(|close| self.find(close)).map(|id| self.var(id));
            faults.push_if_whole(unknown_value(faults, name, close));
        }
        found
    }

    /// Returns true if `operand` has the suffix of its variable (`?`, `...` or none); reports a mismatch.
    /// If some combinations of alternatives do not bind the name, `?` is optional.
    pub fn same_count(&self, operand: &Operand, id: VarId, faults: &mut Faults) -> bool {
        let is_partial = self.partial.contains(&operand.name.text) && operand.many != Many::Any;
        let same =
            self.var(id).count == count(operand.many) || is_partial && self.var(id).count != Count::Many;
        if !same {
            faults.push(other_count(faults, operand, self.var(id)));
        }
        same
    }

    /// Like [`Scope::same_count`], for an operand before `=`.
    /// A plain name is also accepted for an optional variable.
    pub fn same_count_as_made(&self, operand: &Operand, id: VarId, faults: &mut Faults) -> bool {
        operand.many == Many::One && self.var(id).count == Count::Optional
            || self.same_count(operand, id, faults)
    }

    /// Binds `@name` in the pattern, or finds the existing binding: repeated attributes must be equal.
    pub fn bind(&mut self, name: &Name) -> AttrVarId {
        match self.find_attr(&name.text) {
            Some(id) => self.used(id),
            None => self.add_attr(name),
        }
    }

    /// Binds `@name` by `let`; reports a name that is bound already.
    pub fn bind_let(&mut self, name: &Name, faults: &mut Faults) -> Option<AttrVarId> {
        if let Some(first) = self.find_attr(&name.text) {
            faults.push(bound_twice(faults, name, self.attrs[usize::from(first.0)].span));
            return None;
        }
        Some(self.add_attr(name))
    }

    /// Binds a name that need not be used: an operator, a parameter, an index.
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
        let shown = name.text.split('#').next().unwrap_or_default();
        self.attrs.push(AttrVar { name: shown.into(), span: name.span });
        self.attr_uses.push(0);
        self.names.attrs.push((name.text.clone(), id));
        id
    }

    /// Uses `@name`; reports an unbound name.
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

    /// Warns about attribute variables that are never used.
    pub fn report_unused(&self, faults: &mut Faults) {
        for (attr, uses) in self.attrs.iter().zip(&self.attr_uses) {
            if *uses == 0 {
                let by_let = self.lets.iter().any(|name| name.span == attr.span);
                faults.push_if_whole(unused_attr(faults, attr, by_let));
            }
        }
    }
}

/// Converts the suffix of an operand to the number of values it binds.
pub fn count(many: Many) -> Count {
    match many {
        Many::One => Count::One,
        Many::Optional => Count::Optional,
        Many::Any => Count::Many,
    }
}
