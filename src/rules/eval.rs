//! Evaluates the expressions of a rule for one match.
//!
//! Undefined is `None`: a fact that is not known, an index out of range, arguments of another kind than
//! the function takes. An undefined `let` or `where` means that the rule does not match.

use crate::graph::dim::Dim;

use super::arith;
use super::datum::Datum;
use super::expr::{CompareOp, Expr, ExprKind};
use super::func::Func;
use super::host::Host;
use super::matcher::{Binding, Match};
use super::rule::VarId;

/// A match with the host that it was found in.
pub struct Env<'a, H: Host> {
    host: &'a H,
    found: &'a Match<H::Value, H::Node>,
}

impl<'a, H: Host> Env<'a, H> {
    pub fn new(host: &'a H, found: &'a Match<H::Value, H::Node>) -> Self {
        Env { host, found }
    }

    /// The value of a condition; `None` where it cannot be decided.
    pub fn truth(&self, expr: &Expr) -> Option<bool> {
        match self.eval(expr)? {
            Datum::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    pub fn eval(&self, expr: &Expr) -> Option<Datum> {
        Some(match &expr.kind {
            ExprKind::Attr(var) => self.found.attr(*var)?.clone(),
            ExprKind::Value(_) => return None,
            ExprKind::Int(int) => Datum::Int(*int),
            ExprKind::Float(float) => Datum::Float(*float),
            ExprKind::Str(text) => Datum::Str(text.clone()),
            ExprKind::Bool(truth) => Datum::Bool(*truth),
            ExprKind::Elem(elem) => Datum::Elem(*elem),
            ExprKind::Tensor(tensor) => Datum::Tensor(tensor.clone()),
            ExprKind::List(items) => {
                Datum::List(items.iter().map(|item| self.eval(item)).collect::<Option<_>>()?)
            }
            ExprKind::Call { func, args } => return self.call(*func, args),
            ExprKind::Index { list, index } => arith::index(&self.eval(list)?, &self.eval(index)?)?,
            ExprKind::Negate(inner) => arith::negate(&self.eval(inner)?)?,
            ExprKind::Not(inner) => Datum::Bool(!self.truth(inner)?),
            ExprKind::Binary { op, left, right } => {
                arith::binary(*op, &self.eval(left)?, &self.eval(right)?)?
            }
            ExprKind::Compare { op, left, right } => {
                Datum::Bool(self.compare(*op, &self.eval(left)?, &self.eval(right)?)?)
            }
            ExprKind::In { item, list } => Datum::Bool(self.contains(&self.eval(item)?, &self.eval(list)?)?),
            ExprKind::And(parts) => Datum::Bool(self.decided(parts, false)?),
            ExprKind::Or(parts) => Datum::Bool(self.decided(parts, true)?),
        })
    }

    /// And, Or: `deciding` as soon as one part is it; otherwise the opposite, if all parts are defined.
    fn decided(&self, parts: &[Expr], deciding: bool) -> Option<bool> {
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

    /// Symbolic sizes are compared for every size that they can have; undecided is undefined.
    fn compare(&self, op: CompareOp, left: &Datum, right: &Datum) -> Option<bool> {
        if let (Some(a), Some(b)) = (as_dim(left), as_dim(right))
            && (a.as_const().is_none() || b.as_const().is_none())
        {
            return self.compare_dims(op, &a, &b);
        }
        if let (Datum::List(a), Datum::List(b)) = (left, right)
            && matches!(op, CompareOp::Eq | CompareOp::Ne)
        {
            return Some(self.lists_equal(a, b)? == (op == CompareOp::Eq));
        }
        arith::compare(op, left, right)
    }

    fn compare_dims(&self, op: CompareOp, a: &Dim, b: &Dim) -> Option<bool> {
        use crate::graph::dim::Answer;
        let bounds = self.host.bounds();
        let answer = match op {
            CompareOp::Eq => a.equals(b, bounds),
            CompareOp::Ne => a.differs(b, bounds),
            CompareOp::Ge => a.at_least(b, bounds),
            CompareOp::Le => b.at_least(a, bounds),
            CompareOp::Lt => a.at_least(b, bounds).negated(),
            CompareOp::Gt => b.at_least(a, bounds).negated(),
        };
        match answer {
            Answer::Always => Some(true),
            Answer::Never => Some(false),
            Answer::Unknown => None,
        }
    }

    /// Unequal as soon as the lengths or one pair differ, even where another pair is undecided.
    fn lists_equal(&self, a: &[Datum], b: &[Datum]) -> Option<bool> {
        if a.len() != b.len() {
            return Some(false);
        }
        let mut all_decided = true;
        for (a, b) in a.iter().zip(b) {
            match self.compare(CompareOp::Eq, a, b) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => all_decided = false,
            }
        }
        all_decided.then_some(true)
    }

    fn contains(&self, item: &Datum, list: &Datum) -> Option<bool> {
        let Datum::List(items) = list else { return None };
        let answers: Vec<_> = items.iter().map(|other| self.compare(CompareOp::Eq, item, other)).collect();
        match answers.contains(&Some(true)) {
            true => Some(true),
            false => (!answers.contains(&None)).then_some(false),
        }
    }

    fn call(&self, func: Func, args: &[Expr]) -> Option<Datum> {
        if func.asks_host() {
            return self.ask(func, args);
        }
        if func == Func::If {
            let [condition, then, otherwise] = args else { return None };
            return self.eval(if self.truth(condition)? { then } else { otherwise });
        }
        let args = args.iter().map(|arg| self.eval(arg)).collect::<Option<Vec<_>>>()?;
        arith::call(func, &args)
    }

    /// The functions that ask the graph.
    fn ask(&self, func: Func, args: &[Expr]) -> Option<Datum> {
        match func {
            Func::IsPresent => return self.is_present(args.first()?),
            Func::Count => return Some(Datum::Int(self.values(args.first()?)?.len().try_into().ok()?)),
            Func::Opset => return self.opset(args),
            _ => {}
        }
        let value = self.value(args.first()?)?;
        let fact = self.host.fact(value);
        Some(match func {
            Func::Dtype => Datum::Elem(fact.elem()?),
            Func::Rank => Datum::Int(fact.rank()?.try_into().ok()?),
            Func::Shape => dims(fact.dims()?)?,
            Func::Dim => self.dim(value, args.get(1)?)?,
            Func::Numel => Datum::from(fact.shape()?.numel()?),
            Func::IsStatic => Datum::Bool(fact.shape()?.is_static()),
            Func::IsConst => Datum::Bool(fact.is_const()),
            Func::Const => self.host.constant(value)?,
            Func::Scalar => self.scalar(value)?,
            Func::Elements => dims(&fact.as_ints()?)?,
            Func::AtLeast => Datum::Bool(self.at_least(value, args.get(1)?)?),
            Func::Uses => Datum::Int(self.host.uses(value).try_into().ok()?),
            Func::IsOutput => Datum::Bool(self.host.is_output(value)),
            Func::IsInput => Datum::Bool(self.host.is_input(value)),
            Func::KeepsZeros => Datum::Bool(self.keeps_zeros(value, self.value(args.get(1)?)?)?),
            Func::SameShape => self.same_shape(value, self.value(args.get(1)?)?)?,
            _ => return None,
        })
    }

    fn var(expr: &Expr) -> Option<VarId> {
        match expr.kind {
            ExprKind::Value(var) => Some(var),
            _ => None,
        }
    }

    fn value(&self, expr: &Expr) -> Option<H::Value> {
        self.found.one(Self::var(expr)?)
    }

    fn values(&self, expr: &Expr) -> Option<Vec<H::Value>> {
        Some(match self.found.value(Self::var(expr)?)? {
            Binding::One(value) => vec![*value],
            Binding::Absent => Vec::new(),
            Binding::Many(values) => values.clone(),
        })
    }

    fn is_present(&self, expr: &Expr) -> Option<Datum> {
        let present = match Self::var(expr) {
            Some(var) => *self.found.value(var)? != Binding::Absent,
            None => self.eval(expr)? != Datum::Absent,
        };
        Some(Datum::Bool(present))
    }

    fn opset(&self, args: &[Expr]) -> Option<Datum> {
        let domain = match args.first() {
            None => Datum::Str("".into()),
            Some(domain) => self.eval(domain)?,
        };
        match domain {
            Datum::Str(domain) => self.host.opset(&domain).map(Datum::Int),
            _ => None,
        }
    }

    fn dim(&self, value: H::Value, axis: &Expr) -> Option<Datum> {
        let Datum::Int(axis) = self.eval(axis)? else { return None };
        let dims = self.host.fact(value).dims()?;
        let axis = if axis < 0 { axis.checked_add(dims.len().try_into().ok()?)? } else { axis };
        dims.get(usize::try_from(axis).ok()?)?.clone().map(Datum::from)
    }

    fn scalar(&self, value: H::Value) -> Option<Datum> {
        match self.host.constant(value)? {
            Datum::List(items) if items.len() == 1 => items.into_iter().next(),
            _ => None,
        }
    }

    fn at_least(&self, value: H::Value, least: &Expr) -> Option<bool> {
        let least = self.eval(least)?;
        let elements = match self.host.constant(value) {
            Some(Datum::List(items)) => items,
            _ => self
                .host
                .fact(value)
                .as_ints()?
                .into_iter()
                .map(|int| int.map(Datum::from))
                .collect::<Option<_>>()?,
        };
        let answers: Vec<_> = elements.iter().map(|item| self.compare(CompareOp::Ge, item, &least)).collect();
        match answers.contains(&Some(false)) {
            true => Some(false),
            false => (!answers.contains(&None)).then_some(true),
        }
    }

    fn keeps_zeros(&self, shape: H::Value, data: H::Value) -> Option<bool> {
        let sizes = self.host.fact(data).dims();
        let zero = Datum::Int(0);
        let elements = self.host.fact(shape).as_ints()?.into_iter().enumerate();
        let mut kept = elements.map(|(axis, element)| {
            let element = element?;
            let copied = sizes.and_then(|sizes| sizes.get(axis).cloned().flatten());
            if copied.as_ref() == Some(&element) {
                return Some(true);
            }
            self.compare(CompareOp::Ne, &Datum::from(element), &zero)
        });
        kept.all(|kept| kept == Some(true)).then_some(true)
    }

    fn same_shape(&self, a: H::Value, b: H::Value) -> Option<Datum> {
        let (Datum::List(a), Datum::List(b)) =
            (dims(self.host.fact(a).dims()?)?, dims(self.host.fact(b).dims()?)?)
        else {
            return None;
        };
        self.lists_equal(&a, &b).map(Datum::Bool)
    }
}

/// A list of sizes, all of which are known as numbers or symbols.
fn dims(dims: &[Option<Dim>]) -> Option<Datum> {
    dims.iter().map(|dim| dim.clone().map(Datum::from)).collect::<Option<Vec<_>>>().map(Datum::List)
}

fn as_dim(datum: &Datum) -> Option<Dim> {
    match datum {
        Datum::Dim(dim) => Some(dim.clone()),
        Datum::Int(int) => Some(Dim::known(*int)),
        _ => None,
    }
}
