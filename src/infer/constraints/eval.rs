//! Evaluation of the expressions in constraints.

use rustc_hash::FxHashSet;

use super::value::{Value, all, any, arithmetic, compare, decided, elementwise};
use super::{Scope, int, trees};
use crate::graph::dim::{Answer, Bounds, Broadcast, Dim, broadcast};
use crate::graph::{AttrValue, ElemType};
use crate::infer::shape::{Size, number, product};
use crate::infer::{Fact, eval, load};
use crate::schema::ValueType;
use crate::schema::constraints::{Binary, Expr};

impl Scope<'_> {
    /// Decides a condition.
    pub(super) fn answer(&self, expr: &Expr) -> Answer {
        match self.eval(expr) {
            Some(Value::Answer(answer)) => answer,
            _ => Answer::Unknown,
        }
    }

    /// Evaluates an expression; `None` if the value is unknown.
    pub(super) fn eval(&self, expr: &Expr) -> Option<Value> {
        Some(match expr {
            Expr::Int(int) => Value::Int(Dim::known(*int)),
            Expr::Text(text) => Value::Text((*text).to_owned()),
            Expr::Name(name) => self.sizes.get(name)?.clone(),
            Expr::Attr(name) => self.attribute(name)?,
            Expr::List(items) => self.list(items)?,
            Expr::Call(function, args) => self.call(function, args)?,
            Expr::Not(inner) => Value::Answer(self.answer(inner).negated()),
            Expr::Binary(Binary::And, both) => {
                Value::Answer(all([self.answer(&both.0), self.answer(&both.1)]))
            }
            Expr::Binary(Binary::Or, both) => {
                Value::Answer(any([self.answer(&both.0), self.answer(&both.1)]))
            }
            Expr::Binary(operator, both) => {
                let (a, b) = (self.eval(&both.0)?, self.eval(&both.1)?);
                match operator {
                    Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem => {
                        arithmetic(*operator, &a, &b)?
                    }
                    _ => Value::Answer(compare(*operator, &a, &b, self.cx.bounds())),
                }
            }
        })
    }

    fn list(&self, items: &[Expr]) -> Option<Value> {
        if items.iter().all(|item| matches!(item, Expr::Text(_))) && !items.is_empty() {
            let texts = items.iter().map(|item| self.eval(item).map(|text| text.to_string()));
            return texts.collect::<Option<_>>().map(Value::Texts);
        }
        Some(Value::Ints(items.iter().map(|item| self.eval(item)?.as_int().cloned()).collect()))
    }

    /// Returns the value of an attribute, or its default.
    pub(super) fn attribute(&self, name: &str) -> Option<Value> {
        match self.cx.attr(name) {
            Some(AttrValue::Ints(ints)) => {
                Some(Value::Ints(ints.iter().map(|&i| Some(Dim::known(i))).collect()))
            }
            Some(AttrValue::Floats(floats)) => {
                Some(Value::Reals(floats.iter().map(|&float| float.into()).collect()))
            }
            Some(AttrValue::Strings(texts)) => Some(Value::Texts(
                texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect(),
            )),
            Some(AttrValue::Float(float)) => Some(Value::Reals(vec![(*float).into()])),
            Some(AttrValue::Tensor(id)) => {
                let ints = load::array(self.cx.tensor_of(*id))?.ints().ok()?;
                let size = |int: i128| i64::try_from(int).ok().map(Dim::known);
                Some(Value::Ints(ints.into_iter().map(size).collect()))
            }
            _ => self
                .cx
                .int(name)
                .map(|int| Value::Int(Dim::known(int)))
                .or_else(|| self.cx.text(name).map(|text| Value::Text(text.to_owned()))),
        }
    }

    /// Returns the elements of an input, if any of them is known.
    pub(super) fn elements(&self, input: &str) -> Option<Value> {
        let at = self.position(input)?;
        let ints = || self.cx.ints(at).filter(|ints| ints.iter().any(Option::is_some)).map(Value::Ints);
        ints().or_else(|| self.cx.const_floats(at).map(Value::Reals))
    }

    fn call(&self, function: &str, args: &[Expr]) -> Option<Value> {
        let known = |count: usize| i64::try_from(count).ok().map(|count| Value::Int(Dim::known(count)));
        let arg = |at: usize| self.eval(args.get(at)?);
        if let Some(Expr::Name(name)) = args.first()
            && !self.sizes.contains_key(name)
        {
            return self.of_input(function, name, args);
        }
        if let ("len" | "dtype", Some(Expr::Attr(name))) = (function, args.first())
            && let Some(AttrValue::Tensor(id)) = self.cx.attr(name)
        {
            let tensor = self.cx.tensor_of(*id);
            return match function {
                "len" => known(tensor.len()?),
                _ => Some(Value::Text(tensor.elem()?.to_string())),
            };
        }
        match function {
            "version" => Some(Value::Int(Dim::known(self.cx.since()))),
            "inputs" => known(self.cx.inputs()),
            "outputs" => known(self.cx.outs.len()),
            "runs" => Some(Value::Answer(decided(self.cx.runs()))),
            "len" => match arg(0)? {
                Value::Ints(ints) => known(ints.len()),
                Value::Reals(reals) => known(reals.len()),
                Value::Texts(texts) => known(texts.len()),
                _ => None,
            },
            "sum" => arg(0)?
                .as_ints()?
                .iter()
                .try_fold(Dim::known(0), |sum, n| sum.add(n.as_ref()?))
                .map(Value::Int),
            "product" => int(product(arg(0)?.as_ints()?)),
            "iota" => iota(arg(0)?.as_int()?),
            "join" => join(arg(0)?, arg(1)?),
            "min" => elementwise(&arg(0)?, &arg(1)?, |a, b| a.minimum(b.clone())),
            "max" => elementwise(&arg(0)?, &arg(1)?, |a, b| a.maximum(b.clone())),
            "count" => {
                let (list, of) = (arg(0)?, arg(1)?);
                let constants: Option<Vec<i64>> = list.as_ints()?.iter().map(number).collect();
                let of = of.as_int()?.as_const()?;
                known(constants?.iter().filter(|&&n| n == of).count())
            }
            // Returns the number of elements that are known to equal the second argument: a lower bound.
            "least_count" => {
                let (list, of) = (arg(0)?, arg(1)?);
                let of = of.as_int()?.as_const()?;
                known(list.as_ints()?.iter().filter(|size| number(size) == Some(of)).count())
            }
            "lower" => match arg(0)? {
                Value::Texts(texts) => {
                    Some(Value::Texts(texts.iter().map(|text| text.to_lowercase()).collect()))
                }
                _ => None,
            },
            "first" | "last" => part(function, &arg(0)?, &arg(1)?),
            // Returns the second argument if the first one is unknown, such as an absent attribute.
            "or" => arg(0).or_else(|| arg(1)),
            "select" => select(&arg(0)?, &arg(1)?),
            "axes" => Some(Value::Ints(from_start(&arg(0)?, arg(1)?.as_int()?)?)),
            // `bits` returns the width in bits of the element type with this `TensorProto.DataType` number.
            "bits" => bits(elem(arg(0)?.as_int()?)?),
            "is_output_type" => self.is_output_type(arg(0)?.as_int()?),
            "without" => {
                let (list, at) = (arg(0)?, arg(1)?);
                let mut rest = list.as_ints()?.to_vec();
                rest.remove(position(at.as_int()?, rest.len())?);
                Some(Value::Ints(rest))
            }
            "broadcasts" => broadcasts(arg(0)?.as_ints()?, arg(1)?.as_ints()?, self.cx.bounds()),
            "distinct" => distinct(arg(0)?.as_ints()?).map(Value::Answer),
            "distinct_parts" => distinct_parts(&arg(0)?, &arg(1)?, &arg(2)?, &arg(3)?),
            "of_branches" => trees::of_branches(&arg(0)?, &arg(1)?),
            "are_pairs" => trees::are_pairs(&arg(0)?, &arg(1)?, &arg(2)?, &arg(3)?),
            "is_present" => Some(Value::Answer(decided(self.present(args) == 1))),
            "present" => known(self.present(args)),
            _ => None,
        }
    }

    /// Applies a function to an input.
    fn of_input(&self, function: &str, name: &str, args: &[Expr]) -> Option<Value> {
        if function == "is_present" {
            return self.is_present(name);
        }
        if function == "ranks" {
            let rank = |at| self.cx.rank(at).and_then(|rank| i64::try_from(rank).ok()).map(Dim::known);
            return Some(Value::Ints(self.positions(name)?.map(rank).collect()));
        }
        // In older versions of an operator, an input may be an attribute.
        if self.formal(name).is_none() {
            return match function {
                "ints" | "int" | "reals" => self.attribute(name),
                "numel" => {
                    i64::try_from(self.attribute(name)?.len()?).ok().map(|len| Value::Int(Dim::known(len)))
                }
                _ => None,
            };
        }
        let at = self.position(name)?;
        match function {
            "rank" => i64::try_from(self.cx.rank(at)?).ok().map(|rank| Value::Int(Dim::known(rank))),
            "shape" => Some(Value::Ints(self.cx.dims(at)?.to_vec())),
            "dim" => select(&Value::Ints(self.cx.dims(at)?.to_vec()), &self.eval(args.get(1)?)?),
            "numel" => int(self.cx.shape(at).numel()),
            "bits" => bits(self.cx.elem(at)?),
            "dtype" => Some(Value::Text(self.cx.elem(at)?.to_string())),
            // `type_number` returns the `TensorProto.DataType` number of the type, as in the attribute `to`.
            "type_number" => Some(Value::Int(Dim::known(self.cx.elem(at)?.number().into()))),
            "ints" => self.cx.ints(at).map(Value::Ints),
            "int" => int(self.cx.int_scalar(at)),
            "reals" => self.cx.const_floats(at).map(Value::Reals),
            _ => None,
        }
    }

    /// Decides whether the first output, or its elements, may have the type with this number.
    ///
    /// Types have the numbers of `TensorProto.DataType`.
    fn is_output_type(&self, number: &Dim) -> Option<Value> {
        let schema = self.cx.schema?;
        let allowed = schema.allowed(schema.output(0)?);
        number.as_const()?;
        let is_allowed = |elem| allowed.has_tensor(elem) || allowed.has(ValueType::Sequence(elem));
        Some(Value::Answer(decided(elem(number).is_some_and(is_allowed))))
    }

    /// Decides whether the call has an input.
    ///
    /// Unknown for a value without any fact: an input of a function, which a call of the function can omit.
    fn is_present(&self, input: &str) -> Option<Value> {
        let fact = self.position(input).and_then(|at| self.cx.fact(at));
        (fact != Some(&Fact::Unknown)).then(|| Value::Answer(decided(fact.is_some())))
    }

    /// Counts the attributes of this list that are present.
    fn present(&self, names: &[Expr]) -> usize {
        names.iter().filter(|name| matches!(name, Expr::Attr(name) if self.cx.attr(name).is_some())).count()
    }
}

/// Returns the element type with this number of `TensorProto.DataType`.
fn elem(number: &Dim) -> Option<ElemType> {
    ElemType::from_number(i32::try_from(number.as_const()?).ok()?)
}

/// Returns the width of an element type.
fn bits(elem: ElemType) -> Option<Value> {
    Some(Value::Int(Dim::known(i64::try_from(elem.bits()?).ok()?)))
}

/// Returns the first or last elements of a list of integers.
///
/// Returns a value that is not a list of integers unchanged, because an integer stands for a list of equal
/// elements of any length.
fn part(function: &str, list: &Value, count: &Value) -> Option<Value> {
    let Value::Ints(ints) = list else { return Some(list.clone()) };
    let count = usize::try_from(count.as_int()?.as_const()?).ok().filter(|&count| count <= ints.len())?;
    let part = if function == "first" { &ints[..count] } else { &ints[ints.len() - count..] };
    Some(Value::Ints(part.to_vec()))
}

/// Returns the elements of a list at an index or at a list of indices, which may count from the end.
fn select(list: &Value, at: &Value) -> Option<Value> {
    let list = list.as_ints()?;
    let index = |at: &Dim| list.get(position(at, list.len())?);
    match at {
        Value::Int(at) => int(index(at)?.clone()),
        Value::Ints(all) => {
            all.iter().map(|at| Some(index(at.as_ref()?)?.clone())).collect::<Option<_>>().map(Value::Ints)
        }
        _ => None,
    }
}

/// Converts an index, possibly negative (from the end), to one counted from 0.
///
/// Returns `None` if the index is unknown or out of range.
fn position(at: &Dim, length: usize) -> Option<usize> {
    eval::index(at.as_const()?, length)
}

/// Converts axes, possibly negative (from the end), to axes counted from 0.
fn from_start(axes: &Value, rank: &Dim) -> Option<Vec<Size>> {
    let axes = axes.as_ints()?.iter();
    Some(
        axes.map(|axis| {
            let axis = axis.as_ref()?;
            if axis.as_const()? < 0 { axis.add(rank) } else { Some(axis.clone()) }
        })
        .collect(),
    )
}

/// Returns `Never` if two shapes are proved not to broadcast.
fn broadcasts(a: &[Size], b: &[Size], bounds: &Bounds) -> Option<Value> {
    let pairs = a.iter().rev().zip(b.iter().rev());
    Some(Value::Answer(all(pairs.map(|(a, b)| match (a, b) {
        (Some(a), Some(b)) if matches!(broadcast(a, b, bounds), Broadcast::Conflict) => Answer::Never,
        _ => Answer::Unknown,
    }))))
}

/// Decides whether all elements differ; `None` if an element is unknown.
fn distinct(list: &[Size]) -> Option<Answer> {
    let mut constants = list.iter().map(number).collect::<Option<Vec<i64>>>()?;
    constants.sort_unstable();
    Some(decided(constants.windows(2).all(|pair| pair[0] != pair[1])))
}

/// Maximum length of a list that `iota` returns.
const MAX_LIST: i64 = 1 << 20;

/// Returns the integers from 0 to `limit - 1`.
fn iota(limit: &Dim) -> Option<Value> {
    let limit = limit.as_const().filter(|&limit| limit <= MAX_LIST)?;
    Some(Value::Ints((0..limit).map(|int| Some(Dim::known(int))).collect()))
}

/// Concatenates two lists of integers.
fn join(list: Value, more: Value) -> Option<Value> {
    let (Value::Ints(mut list), Value::Ints(more)) = (list, more) else { return None };
    list.extend(more);
    Some(Value::Ints(list))
}

/// Decides whether the n-grams of a pool differ, for each n between the limits.
///
/// The n-th element of `starts` is the position in the pool at which the n-grams of length n begin.
fn distinct_parts(pool: &Value, starts: &Value, least: &Value, most: &Value) -> Option<Value> {
    let texts = match pool {
        Value::Ints(ints) => ints.iter().map(|int| Some(number(int)?.to_string())).collect::<Option<_>>()?,
        Value::Texts(texts) => texts.clone(),
        _ => return None,
    };
    let limit = |value: &Value| usize::try_from(value.as_int()?.as_const()?).ok();
    let (least, most) = (limit(least)?, limit(most)?);
    let starts: Vec<usize> =
        starts.as_ints()?.iter().map(|start| usize::try_from(number(start)?).ok()).collect::<Option<_>>()?;
    let ends = starts.iter().skip(1).copied().chain([texts.len()]);
    let mut are_distinct = true;
    for (n, (&start, end)) in (1..).zip(starts.iter().zip(ends)).filter(|(n, _)| (least..=most).contains(n)) {
        let mut seen = FxHashSet::default();
        are_distinct &= texts.get(start..end)?.chunks(n).all(|part| seen.insert(part));
    }
    Some(Value::Answer(decided(are_distinct)))
}
