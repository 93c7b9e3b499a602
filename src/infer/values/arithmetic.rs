//! Symbolic evaluation of arithmetic and comparisons on whole numbers.

use super::width::held;
use super::{Ints, followed, small};
use crate::graph::ElemType;
use crate::graph::dim::{Answer, Dim};
use crate::infer::fact::Fact;
use crate::infer::ops::{Cx, larger, smaller};
use crate::infer::shape::{Size, add, is, known, mul, product, sub};

type Unary = fn(&Size, &Cx) -> Size;
type Binary = fn(&Size, &Size, &Cx) -> Size;

/// Infers the output elements of an arithmetic operator.
pub(super) fn computed(cx: &Cx) -> Option<Vec<Fact>> {
    if !cx.call().domain.is_empty() {
        return None;
    }
    let elem = cx.outs.first()?.elem().filter(|&elem| followed(elem))?;
    let ints = if let Some(op) = unary(cx) {
        let Ints { dims, elements } = input(cx, 0)?;
        Ints { dims, elements: elements.iter().map(|element| op(element, cx)).collect() }
    } else if let Some(op) = binary(cx) {
        (1..cx.inputs()).try_fold(input(cx, 0)?, |left, right| zip(cx, left, input(cx, right)?, op))?
    } else {
        match cx.op() {
            "Where" => choose(cx)?,
            "Range" => range(cx)?,
            "CumSum" => cumulate(cx)?,
            op => reduce(cx, op)?,
        }
    };
    let Ints { dims, elements } = ints;
    let elements = elements.into_iter().map(|element| held(element, elem, cx.bounds())).collect();
    let ints = Ints { dims, elements };
    ints.any_known().then_some(())?;
    Some(vec![ints.into_fact(elem)?])
}

fn input(cx: &Cx, input: usize) -> Option<Ints> {
    Ints::of(cx.tensor(input)?)
}

/// Returns the element function of a unary operator.
fn unary(cx: &Cx) -> Option<Unary> {
    let to = cx.outs.first()?.elem()?;
    let from = cx.elem(0)?;
    Some(match cx.op() {
        "Cast" | "CastLike" if !followed(from) => return None,
        "Cast" | "CastLike" if to == ElemType::Bool => |a, cx| differs(a, &known(0), cx),
        "Cast" | "CastLike" | "Floor" | "Ceil" | "Round" => |a, _| a.clone(),
        "Neg" if to.is_float() => |a, _| a.as_ref().filter(|a| a.as_const() != Some(0))?.neg(),
        "Neg" => |a, _| a.as_ref()?.neg(),
        "Abs" => |a, cx| larger(a.as_ref()?, &a.as_ref()?.neg()?, cx),
        "Not" => |a, _| sub(&known(1), a),
        "Relu" => |a, cx| larger(a.as_ref()?, &Dim::known(0), cx),
        _ => return None,
    })
}

/// Returns the element function of a binary operator.
fn binary(cx: &Cx) -> Option<Binary> {
    let whole = cx.elem(0).is_some_and(|elem| !elem.is_float());
    Some(match cx.op() {
        "Add" | "Sum" => |a, b, _| add(a, b),
        "Sub" => |a, b, _| sub(a, b),
        "Mul" if whole => |a, b, _| mul(a, b),
        "Mul" => float_product,
        "Div" if whole => divide,
        "Div" => |a, b, _| a.as_ref().filter(|a| a.as_const() != Some(0))?.div_exact(nonzero(b)?),
        "Mod" if whole && !cx.flag("fmod") => |a, b, _| a.as_ref()?.modulo(nonzero(b)?),
        "Mod" if whole => |a, b, cx| sub(a, &mul(&divide(a, b, cx), b)),
        "Max" => |a, b, cx| larger(a.as_ref()?, b.as_ref()?, cx),
        "Min" => |a, b, cx| smaller(a.as_ref()?, b.as_ref()?, cx),
        "Equal" => |a, b, cx| difference(a, b, cx, Answer::negated),
        "Greater" => |a, b, cx| at_least(b, a, cx, Answer::negated),
        "Less" => |a, b, cx| at_least(a, b, cx, Answer::negated),
        "GreaterOrEqual" => |a, b, cx| at_least(a, b, cx, |answer| answer),
        "LessOrEqual" => |a, b, cx| at_least(b, a, cx, |answer| answer),
        "And" => |a, b, _| mul(a, b),
        "Or" => |a, b, _| if is(a, 1) || is(b, 1) { known(1) } else { sub(&add(a, b), &mul(a, b)) },
        _ => return None,
    })
}

/// Returns a divisor, or `None` if the divisor is unknown or the number 0.
fn nonzero(b: &Size) -> Option<&Dim> {
    b.as_ref().filter(|dim| dim.as_const() != Some(0))
}

/// Multiplies floats.
///
/// Returns `None` if a factor is unknown, and for the number 0 times a factor that may be negative: their
/// product may be −0.
fn float_product(a: &Size, b: &Size, cx: &Cx) -> Size {
    let (left, right) = (a.as_ref()?, b.as_ref()?);
    let is_zero = |dim: &Dim| dim.as_const() == Some(0);
    let may_be_negative = |dim: &Dim| !dim.at_least(&Dim::known(0), cx.bounds()).is_always();
    let is_open = is_zero(left) && may_be_negative(right) || is_zero(right) && may_be_negative(left);
    if is_open { None } else { left.mul(right) }
}

/// Divides integers, truncating toward zero.
fn divide(a: &Size, b: &Size, cx: &Cx) -> Size {
    let (a, b) = (a.as_ref()?, nonzero(b)?);
    let zero = Dim::known(0);
    let positive = |dim: &Dim| dim.at_least(&zero, cx.bounds()).is_always();
    if positive(a) && positive(b) { a.floor_div(b) } else { a.trunc_div(b) }
}

/// Converts the answer of a comparison to a bool element.
fn truth(answer: Answer) -> Size {
    match answer {
        Answer::Always => known(1),
        Answer::Never => known(0),
        Answer::Unknown => None,
    }
}

fn differs(a: &Size, b: &Size, cx: &Cx) -> Size {
    difference(a, b, cx, |answer| answer)
}

fn difference(a: &Size, b: &Size, cx: &Cx, read: fn(Answer) -> Answer) -> Size {
    truth(read(a.as_ref()?.differs(b.as_ref()?, cx.bounds())))
}

fn at_least(a: &Size, b: &Size, cx: &Cx, read: fn(Answer) -> Answer) -> Size {
    truth(read(a.as_ref()?.at_least(b.as_ref()?, cx.bounds())))
}

/// Broadcasts two tensors and combines them element by element.
fn zip(cx: &Cx, a: Ints, b: Ints, op: Binary) -> Option<Ints> {
    let dims = broadcast(&a.dims, &b.dims)?;
    let (left, right) = (offsets(&a.dims, &dims), offsets(&b.dims, &dims));
    let pairs = left.into_iter().zip(right);
    let elements = pairs.map(|(i, j)| op(&a.elements[i], &b.elements[j], cx)).collect();
    Some(Ints { dims, elements })
}

/// Returns the broadcast shape, or `None` if there is none or the result is too large to track.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis]);
    let dims: Vec<usize> = (0..rank)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (a, b) if a == b || b == 1 => Some(a),
            (1, b) => Some(b),
            _ => None,
        })
        .collect::<Option<_>>()?;
    (dims.iter().product::<usize>() <= super::MAX_ELEMENTS).then_some(dims)
}

/// Returns, for each element of `to`, the offset of the element of `from` that is broadcast there.
fn offsets(from: &[usize], to: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    let skipped = to.len() - from.len();
    for (axis, &size) in to.iter().enumerate() {
        let own = axis.checked_sub(skipped).map_or(1, |axis| from[axis]);
        let places = (0..size).map(|place| if own == 1 { 0 } else { place });
        offsets =
            offsets.iter().flat_map(|&base| places.clone().map(move |place| base * own + place)).collect();
    }
    offsets
}

/// Evaluates `Where`. Under an unknown condition, an element is known only if both operands are equal.
fn choose(cx: &Cx) -> Option<Ints> {
    let (condition, yes, no) = (input(cx, 0)?, input(cx, 1)?, input(cx, 2)?);
    let dims = broadcast(&broadcast(&condition.dims, &yes.dims)?, &no.dims)?;
    let places = [&condition, &yes, &no].map(|ints| offsets(&ints.dims, &dims));
    let count = places[0].len();
    let pick = |at: usize| {
        let (yes, no) = (&yes.elements[places[1][at]], &no.elements[places[2][at]]);
        match condition.elements[places[0][at]].as_ref().and_then(Dim::as_const) {
            Some(0) => no.clone(),
            Some(_) => yes.clone(),
            None => yes.clone().filter(|_| yes == no),
        }
    };
    Some(Ints { elements: (0..count).map(pick).collect(), dims })
}

/// Evaluates `Range` if its length is static.
fn range(cx: &Cx) -> Option<Ints> {
    let dims = small(cx.outs.first()?.shape()?)?;
    let (start, step) = (input(cx, 0)?.elements.pop()?, input(cx, 2)?.elements.pop()?);
    let elements = (0..*dims.first()?).map(|at| add(&start, &mul(&step, &known(at as i64)))).collect();
    Some(Ints { dims, elements })
}

/// Evaluates `CumSum` of a vector, without `exclusive` and `reverse`.
fn cumulate(cx: &Cx) -> Option<Ints> {
    let Ints { dims, mut elements } = input(cx, 0)?;
    if dims.len() != 1 || cx.flag("exclusive") || cx.flag("reverse") {
        return None;
    }
    for at in 1..elements.len() {
        elements[at] = add(&elements[at - 1], &elements[at]);
    }
    Some(Ints { dims, elements })
}

/// Evaluates a reduction of all elements to one element.
fn reduce(cx: &Cx, op: &str) -> Option<Ints> {
    if !op.starts_with("Reduce") {
        return None;
    }
    let dims = small(cx.outs.first()?.shape()?)?;
    let all = input(cx, 0)?.elements;
    if dims.iter().product::<usize>() != 1 || all.is_empty() {
        return None;
    }
    let (first, rest) = all.split_first()?;
    let fold = |op: Binary| rest.iter().fold(first.clone(), |a, b| op(&a, b, cx));
    let one = match op {
        "ReduceProd" if cx.elem(0).is_some_and(ElemType::is_float) => fold(float_product),
        "ReduceProd" => product(&all),
        "ReduceSum" => fold(|a, b, _| add(a, b)),
        "ReduceMax" => fold(|a, b, cx| larger(a.as_ref()?, b.as_ref()?, cx)),
        "ReduceMin" => fold(|a, b, cx| smaller(a.as_ref()?, b.as_ref()?, cx)),
        _ => return None,
    };
    Some(Ints { dims, elements: vec![one] })
}
