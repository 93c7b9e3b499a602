//! Evaluates the expressions of a rule for one match.
//!
//! `None` means that the result is undefined, for example because of an unknown fact, an index out of range,
//! or an argument of the wrong kind.
//! If a `let` or `where` is undefined, the rule does not match.

use crate::edit::Item;
use crate::graph::dim::Dim;
use crate::graph::origin;
use crate::infer::{self, Fact};

use super::arith;
use super::bindings::{Binding, Match};
use super::compare::Comparison;
use super::datum::Datum;
use super::draft::Draft;
use super::expr::{CompareOp, Each, Expr, ExprKind, Over};
use super::func::Func;
use super::host::Host;
use super::producers::{self, Elements};
use super::rule::{AttrVarId, Rewrite, VarId};

/// Evaluation context: a match, its host, and the partial result of the rewrite.
pub struct Env<'a, H: Host> {
    pub(super) host: &'a H,
    pub(super) found: &'a Match<H::Value, H::Node>,
    pub(super) draft: Draft<'a, H::Value>,
}

impl<'a, H: Host> Env<'a, H> {
    /// Creates a context for the conditions of a match.
    pub fn new(host: &'a H, found: &'a Match<H::Value, H::Node>) -> Self {
        Env { host, found, draft: Draft::new(None) }
    }

    /// Creates a context for the rewrite of a match.
    pub(super) fn for_rewrite(
        host: &'a H,
        found: &'a Match<H::Value, H::Node>,
        rewrite: &'a Rewrite,
    ) -> Self {
        Env { host, found, draft: Draft::new(Some(rewrite)) }
    }

    /// Evaluates a condition; returns `None` if the result is undefined or not a bool.
    pub fn truth(&mut self, expr: &Expr) -> Option<bool> {
        match self.eval(expr)? {
            Datum::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Evaluates an expression; returns `None` if the result is undefined.
    pub fn eval(&mut self, expr: &Expr) -> Option<Datum> {
        Some(match &expr.kind {
            ExprKind::Attr(var) => self.attr(*var)?,
            ExprKind::Value(_) => return None,
            ExprKind::Int(int) => Datum::Int(*int),
            ExprKind::Float(float) => Datum::Float(*float),
            ExprKind::Str(text) => Datum::Str(text.clone()),
            ExprKind::Bool(truth) => Datum::Bool(*truth),
            ExprKind::Elem(elem) => Datum::Elem(*elem),
            ExprKind::Tensor(tensor) => Datum::Tensor(tensor.clone()),
            ExprKind::List(items) => Datum::List(self.all(items)?),
            ExprKind::Each { body, each } => Datum::List(self.each(each, |env| env.eval(body))?),
            ExprKind::Call { func, args } => return self.call(*func, args),
            ExprKind::Index { list, index } => arith::index(&self.eval(list)?, &self.eval(index)?)?,
            ExprKind::Negate(inner) => arith::negate(&self.eval(inner)?)?,
            ExprKind::Not(inner) => Datum::Bool(!self.truth(inner)?),
            ExprKind::Binary { op, left, right } => {
                arith::binary(*op, &self.eval(left)?, &self.eval(right)?)?
            }
            ExprKind::Compare { op, left, right } => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                Datum::Bool(self.comparison().compare(*op, &left, &right)?)
            }
            ExprKind::In { item, list } => {
                let (item, list) = (self.eval(item)?, self.eval(list)?);
                Datum::Bool(self.comparison().contains(&item, &list)?)
            }
            ExprKind::Like { text, form } => match self.eval(text)? {
                Datum::Str(text) => Datum::Bool(form.is_match(&*text)),
                _ => return None,
            },
            ExprKind::And(parts) => Datum::Bool(self.decided(parts, false)?),
            ExprKind::Or(parts) => Datum::Bool(self.decided(parts, true)?),
        })
    }

    fn all(&mut self, exprs: &[Expr]) -> Option<Vec<Datum>> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    fn comparison(&self) -> Comparison<'a> {
        Comparison { bounds: self.host.bounds() }
    }

    /// Evaluates `body` for each item, with the names of `each` bound.
    pub(super) fn each<T>(
        &mut self,
        each: &Each,
        mut body: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (items, list) = match &each.over {
            Over::Values { values, .. } => (self.many(*values)?, Vec::new()),
            Over::List(list) => match self.eval(list)? {
                Datum::List(list) => (Vec::new(), list),
                _ => return None,
            },
        };
        let places = (0..items.len() as i64).map(Datum::Int).chain(list).enumerate();
        let mut results = Vec::new();
        for (index, place) in places {
            if let (Over::Values { item, .. }, Some(value)) = (&each.over, items.get(index)) {
                self.draft.set_value(*item, *value);
            }
            if let Some(attr) = each.attr {
                self.draft.set_attr(attr, place);
            }
            results.push(body(self)?);
        }
        Some(results)
    }

    /// Evaluates And (`deciding` is false) or Or (`deciding` is true).
    /// Returns `deciding` if any operand equals `deciding`; otherwise, returns `!deciding` if all operands are
    /// defined.
    fn decided(&mut self, parts: &[Expr], deciding: bool) -> Option<bool> {
        let mut all_defined = true;
        for part in parts {
            match self.truth(part) {
                Some(truth) if truth == deciding => return Some(deciding),
                Some(_) => {}
                None => all_defined = false,
            }
        }
        all_defined.then_some(!deciding)
    }

    fn call(&mut self, func: Func, args: &[Expr]) -> Option<Datum> {
        if func.asks_host() {
            return self.ask(func, args);
        }
        if func == Func::If {
            let [condition, then, otherwise] = args else { return None };
            let holds = self.truth(condition)?;
            return self.eval(if holds { then } else { otherwise });
        }
        arith::call(func, &self.all(args)?)
    }

    /// Evaluates functions that inspect the graph.
    fn ask(&mut self, func: Func, args: &[Expr]) -> Option<Datum> {
        match func {
            Func::IsPresent => return self.is_present(args.first()?),
            Func::Count => {
                let values = self.many(var(args.first()?)?)?;
                return Some(Datum::Int(values.len().try_into().ok()?));
            }
            Func::Opset => return self.opset(args),
            Func::IsDtype => {
                let (value, elem) = (self.one(args.first()?)?, self.eval(args.get(1)?)?);
                let dtype = self.fact(value).elem().map(Datum::Elem);
                let answer = dtype.and_then(|dtype| arith::compare(CompareOp::Eq, &dtype, &elem));
                return Some(Datum::Bool(answer == Some(true)));
            }
            _ => {}
        }
        let value = self.one(args.first()?)?;
        let fact = self.fact(value);
        Some(match func {
            Func::Dtype => Datum::Elem(fact.elem()?),
            Func::Rank => Datum::Int(fact.rank()?.try_into().ok()?),
            Func::Shape => dims(fact.dims()?)?,
            Func::Dim => self.dim(&fact, args.get(1)?)?,
            Func::Numel => Datum::from(fact.shape()?.numel()?),
            Func::IsStatic => Datum::Bool(fact.shape()?.is_static()),
            Func::IsConst => Datum::Bool(fact.is_const()),
            // In an e-graph, a value has no single producer, so every constant counts as stored.
            Func::IsStored => {
                let maker = self.host.maker(value.old()?);
                Datum::Bool(fact.is_const() && maker.is_none_or(|node| node.is("Constant")))
            }
            Func::Const => self.constant(value)?,
            Func::Filling => self.filling(value)?,
            Func::Scalar => self.scalar(value)?,
            Func::Elements => dims(&fact.as_ints()?)?,
            Func::AtLeast => {
                let least = self.eval(args.get(1)?)?;
                Datum::Bool(self.at_least(value, &fact, &least)?)
            }
            Func::IsNonnegative => self.elements_are(value, Elements::Nonnegative)?,
            Func::IsFiniteWeights => self.elements_are(value, Elements::FiniteConstants)?,
            Func::Uses => Datum::Int(self.host.uses(value.old()?).try_into().ok()?),
            Func::IsOutput => Datum::Bool(self.host.is_output(value.old()?)),
            Func::IsInput => Datum::Bool(self.host.is_input(value.old()?)),
            Func::NodeName => text(self.host.maker(value.old()?)?.name.as_deref()?)?,
            Func::ModulePath => text(&origin::module_path(self.host.maker(value.old()?)?))?,
            Func::KeepsZeros => {
                let data = self.one(args.get(1)?)?;
                let data = self.fact(data);
                Datum::Bool(self.keeps_zeros(&fact, &data)?)
            }
            Func::SameShape => {
                let other = self.one(args.get(1)?)?;
                let other = self.fact(other);
                let (a, b) = (dims(fact.dims()?)?, dims(other.dims()?)?);
                Datum::Bool(self.comparison().compare(CompareOp::Eq, &a, &b)?)
            }
            _ => return None,
        })
    }

    fn elements_are(&self, value: Item<H::Value>, fact: Elements) -> Option<Datum> {
        Some(Datum::Bool(producers::are(self.host, value.old()?, fact)))
    }

    /// Returns the value of an attribute variable.
    fn attr(&mut self, var: AttrVarId) -> Option<Datum> {
        match self.draft.attr(var).or_else(|| self.found.attr(var)) {
            Some(datum) => Some(datum.clone()),
            None => self.make_attr(var),
        }
    }

    /// Returns the binding of a value variable, from the pattern or from the rewrite.
    pub(super) fn binding(&mut self, var: VarId) -> Option<Binding<Item<H::Value>>> {
        match self.found.value(var) {
            Some(binding) => Some(binding.map(Item::Old)),
            None => self.make_value(var),
        }
    }

    fn one(&mut self, expr: &Expr) -> Option<Item<H::Value>> {
        match self.binding(var(expr)?)? {
            Binding::One(value) => Some(value),
            Binding::Absent | Binding::Many(_) => None,
        }
    }

    fn many(&mut self, var: VarId) -> Option<Vec<Item<H::Value>>> {
        Some(match self.binding(var)? {
            Binding::One(value) => vec![value],
            Binding::Absent => Vec::new(),
            Binding::Many(values) => values.to_vec(),
        })
    }

    fn is_present(&mut self, expr: &Expr) -> Option<Datum> {
        let present = match var(expr) {
            Some(var) => self.binding(var)? != Binding::Absent,
            None => self.eval(expr)? != Datum::Absent,
        };
        Some(Datum::Bool(present))
    }

    fn opset(&mut self, args: &[Expr]) -> Option<Datum> {
        let domain = match args.first() {
            None => Datum::Str("".into()),
            Some(domain) => self.eval(domain)?,
        };
        match domain {
            Datum::Str(domain) => self.host.opset(&domain).map(Datum::Int),
            _ => None,
        }
    }

    fn dim(&mut self, fact: &Fact, axis: &Expr) -> Option<Datum> {
        let Datum::Int(axis) = self.eval(axis)? else { return None };
        let dims = fact.dims()?;
        let axis = if axis < 0 { axis.checked_add(dims.len().try_into().ok()?)? } else { axis };
        dims.get(usize::try_from(axis).ok()?)?.clone().map(Datum::from)
    }

    /// Returns the elements of a small constant.
    fn constant(&mut self, value: Item<H::Value>) -> Option<Datum> {
        match value {
            Item::Old(value) => self.host.constant(value),
            Item::New(_) => Datum::from_array(self.fact(value).as_const()?),
        }
    }

    fn filling(&mut self, value: Item<H::Value>) -> Option<Datum> {
        let known = match (self.constant(value), value) {
            (None, Item::Old(old)) => Datum::from_array(&infer::filling(self.host.weight(old)?)?)?,
            (known, _) => known?,
        };
        let Datum::List(items) = known else { return None };
        let first = items.first()?;
        items.iter().all(|item| item == first).then(|| first.clone())
    }

    fn scalar(&mut self, value: Item<H::Value>) -> Option<Datum> {
        match self.constant(value)? {
            Datum::List(items) if items.len() == 1 => items.into_iter().next(),
            _ => None,
        }
    }

    fn at_least(&mut self, value: Item<H::Value>, fact: &Fact, least: &Datum) -> Option<bool> {
        let elements = match self.constant(value) {
            Some(Datum::List(items)) => items,
            _ => fact.as_ints()?.into_iter().map(|int| int.map(Datum::from)).collect::<Option<_>>()?,
        };
        let comparison = self.comparison();
        let answers: Vec<_> =
            elements.iter().map(|item| comparison.compare(CompareOp::Ge, item, least)).collect();
        match answers.contains(&Some(false)) {
            true => Some(false),
            false => (!answers.contains(&None)).then_some(true),
        }
    }

    fn keeps_zeros(&self, shape: &Fact, data: &Fact) -> Option<bool> {
        let sizes = data.dims();
        let zero = Datum::Int(0);
        let elements = shape.as_ints()?.into_iter().enumerate();
        let mut kept = elements.map(|(axis, element)| {
            let element = element?;
            let copied = sizes.and_then(|sizes| sizes.get(axis).cloned().flatten());
            // A nonzero multiple of the copied size is 0 only if that size is 0.
            let times = copied.as_ref().and_then(|copied| element.div_exact(copied)?.as_const());
            if copied.as_ref() == Some(&element) || times.is_some_and(|times| times != 0) {
                return Some(true);
            }
            self.comparison().compare(CompareOp::Ne, &Datum::from(element), &zero)
        });
        kept.all(|kept| kept == Some(true)).then_some(true)
    }
}

fn var(expr: &Expr) -> Option<VarId> {
    match expr.kind {
        ExprKind::Value(var) => Some(var),
        _ => None,
    }
}

/// Returns a text, unless it is empty.
fn text(text: &str) -> Option<Datum> {
    (!text.is_empty()).then(|| Datum::Str(text.into()))
}

/// Returns the dimensions as a list, or `None` if any dimension is unknown.
fn dims(dims: &[Option<Dim>]) -> Option<Datum> {
    dims.iter().map(|dim| dim.clone().map(Datum::from)).collect::<Option<Vec<_>>>().map(Datum::List)
}
