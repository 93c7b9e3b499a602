//! Values of expressions, with arithmetic and comparisons.

use std::fmt;

use crate::graph::dim::{Answer, Bounds, Dim};
use crate::infer::shape::{Shape, Size};
use crate::schema::constraints::Binary;

/// Value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Int(Dim),
    /// A list of integers, some of which may be unknown.
    Ints(Vec<Size>),
    /// A list of real numbers.
    Reals(Vec<f64>),
    /// A string.
    Text(String),
    /// A list of strings.
    Texts(Vec<String>),
    /// The answer of a condition.
    Answer(Answer),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(dim) => write!(f, "{dim}"),
            Value::Ints(sizes) => write!(f, "{}", Shape::new(sizes.clone())),
            Value::Reals(reals) => {
                let reals: Vec<String> = reals.iter().map(f64::to_string).collect();
                write!(f, "[{}]", reals.join(", "))
            }
            Value::Text(text) => f.write_str(text),
            Value::Texts(texts) => write!(f, "[{}]", texts.join(", ")),
            Value::Answer(answer) => f.write_str(if answer.is_always() { "true" } else { "false" }),
        }
    }
}

impl Value {
    /// Returns the integer.
    pub fn as_int(&self) -> Option<&Dim> {
        if let Value::Int(dim) = self { Some(dim) } else { None }
    }

    /// Returns the list of integers.
    pub fn as_ints(&self) -> Option<&[Size]> {
        if let Value::Ints(sizes) = self { Some(sizes) } else { None }
    }

    /// Returns true if no element is unknown, and a list is short enough for a message.
    pub fn is_known(&self) -> bool {
        const MAX_SHOWN: usize = 8;
        match self {
            Value::Ints(sizes) => sizes.len() <= MAX_SHOWN && sizes.iter().all(Option::is_some),
            Value::Reals(reals) => reals.len() <= MAX_SHOWN,
            Value::Texts(texts) => texts.len() <= MAX_SHOWN,
            _ => true,
        }
    }

    /// Returns the value as a list of integers of this length; an integer is repeated.
    fn repeated(&self, length: usize) -> Option<Vec<Size>> {
        match self {
            Value::Int(dim) => Some(vec![Some(dim.clone()); length]),
            Value::Ints(sizes) => (sizes.len() == length).then(|| sizes.clone()),
            _ => None,
        }
    }

    /// Returns the number of elements of a list.
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::Ints(sizes) => Some(sizes.len()),
            Value::Reals(reals) => Some(reals.len()),
            Value::Texts(texts) => Some(texts.len()),
            _ => None,
        }
    }

    fn reals(&self) -> Option<Vec<f64>> {
        match self {
            Value::Int(dim) => Some(vec![dim.as_const()? as f64]),
            Value::Ints(sizes) => sizes.iter().map(|size| Some(size.as_ref()?.as_const()? as f64)).collect(),
            Value::Reals(reals) => Some(reals.clone()),
            _ => None,
        }
    }
}

/// Computes an arithmetic operator on integers and lists of equal length.
///
/// An integer is repeated for a list.
pub fn arithmetic(operator: Binary, a: &Value, b: &Value) -> Option<Value> {
    elementwise(a, b, |a, b| compute(operator, a, b))
}

/// Computes a function of integers and of the elements of lists of equal length.
pub fn elementwise(a: &Value, b: &Value, compute: impl Fn(&Dim, &Dim) -> Size) -> Option<Value> {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        return compute(a, b).map(Value::Int);
    }
    let length = a.len().or(b.len())?;
    let pairs = a.repeated(length)?.into_iter().zip(b.repeated(length)?);
    Some(Value::Ints(pairs.map(|(a, b)| compute(&a?, &b?)).collect()))
}

fn compute(operator: Binary, a: &Dim, b: &Dim) -> Size {
    match operator {
        Binary::Add => a.add(b),
        Binary::Sub => a.sub(b),
        Binary::Mul => a.mul(b),
        Binary::Div => a.floor_div(b),
        Binary::Rem => a.modulo(b),
        _ => None,
    }
}

/// Compares two values. A comparison of lists holds if it holds for every element.
pub fn compare(operator: Binary, a: &Value, b: &Value, bounds: &Bounds) -> Answer {
    match (operator, a, b) {
        (Binary::Ne, ..) if a.len().is_none() && b.len().is_none() => {
            return compare(Binary::Eq, a, b, bounds).negated();
        }
        (Binary::Eq, Value::Answer(a), Value::Answer(b))
            if *a != Answer::Unknown && *b != Answer::Unknown =>
        {
            return decided(a == b);
        }
        (Binary::Eq, Value::Text(a), Value::Text(b)) => return decided(a == b),
        (Binary::In, Value::Text(a), Value::Texts(b)) => return decided(b.contains(a)),
        (Binary::In, Value::Texts(a), Value::Texts(b)) => {
            return decided(a.iter().all(|text| b.contains(text)));
        }
        (Binary::In, Value::Int(a), Value::Ints(b)) => {
            let equals = |b: &Size| b.as_ref().map_or(Answer::Unknown, |b| a.equals(b, bounds));
            return any(b.iter().map(equals));
        }
        (Binary::In, Value::Ints(a), Value::Ints(_)) => {
            let is_in = |a: &Size| {
                a.as_ref().map_or(Answer::Unknown, |a| compare(operator, &Value::Int(a.clone()), b, bounds))
            };
            return all(a.iter().map(is_in));
        }
        (Binary::Eq, ..)
            if let (Some(m), Some(n)) = (a.len(), b.len())
                && m != n =>
        {
            return Answer::Never;
        }
        _ => {}
    }
    if matches!(a, Value::Reals(_)) || matches!(b, Value::Reals(_)) {
        return compare_reals(operator, a, b).unwrap_or(Answer::Unknown);
    }
    let length = a.len().or(b.len()).unwrap_or(1);
    let (Some(a), Some(b)) = (a.repeated(length), b.repeated(length)) else { return Answer::Unknown };
    all(a.iter().zip(&b).map(|(a, b)| match (a, b) {
        (Some(a), Some(b)) => compare_dims(operator, a, b, bounds),
        _ => Answer::Unknown,
    }))
}

fn compare_dims(operator: Binary, a: &Dim, b: &Dim, bounds: &Bounds) -> Answer {
    match operator {
        Binary::Eq => a.equals(b, bounds),
        Binary::Ne => a.differs(b, bounds),
        Binary::Ge => a.at_least(b, bounds),
        Binary::Le => b.at_least(a, bounds),
        Binary::Lt => a.at_least(b, bounds).negated(),
        Binary::Gt => b.at_least(a, bounds).negated(),
        _ => Answer::Unknown,
    }
}

fn compare_reals(operator: Binary, a: &Value, b: &Value) -> Option<Answer> {
    let (mut a, mut b) = (a.reals()?, b.reals()?);
    let length = a.len().max(b.len());
    for side in [&mut a, &mut b] {
        if side.len() == 1 {
            side.resize(length, side[0]);
        }
    }
    let holds = |(a, b): (&f64, &f64)| match operator {
        Binary::Eq => a == b,
        Binary::Ne => a != b,
        Binary::Ge => a >= b,
        Binary::Le => a <= b,
        Binary::Lt => a < b,
        Binary::Gt => a > b,
        _ => true,
    };
    (a.len() == b.len()).then(|| decided(a.iter().zip(&b).all(holds)))
}

/// Converts a truth value to an answer.
pub fn decided(holds: bool) -> Answer {
    if holds { Answer::Always } else { Answer::Never }
}

/// Returns the conjunction.
pub fn all(answers: impl IntoIterator<Item = Answer>) -> Answer {
    let mut all = Answer::Always;
    for answer in answers {
        match answer {
            Answer::Never => return Answer::Never,
            Answer::Unknown => all = Answer::Unknown,
            Answer::Always => {}
        }
    }
    all
}

/// Returns the disjunction.
pub fn any(answers: impl IntoIterator<Item = Answer>) -> Answer {
    all(answers.into_iter().map(Answer::negated)).negated()
}
