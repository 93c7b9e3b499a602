//! Shape rules of sequences and optionals.

use super::Cx;
use crate::graph::ElemType;
use crate::graph::dim::Dim;
use crate::infer::declared;
use crate::infer::elements::MAX_FOLLOWED;
use crate::infer::fact::Elements;
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size, add, known, number};

fn elements_of<'c>(cx: &Cx<'c>, input: usize) -> Option<&'c Elements> {
    match cx.fact(input)? {
        Fact::Sequence(elements) => Some(elements),
        _ => None,
    }
}

/// Reads an input as a position below `end` in a sequence of `len` elements, counted from 0.
///
/// Returns the last position if the input is absent, and `None` if the position is unknown. If the call always
/// runs, records a fault if the position is out of range, or if the sequence has no last element: a condition
/// often guards such calls.
fn place(cx: &mut Cx, input: usize, len: usize, end: usize) -> Option<usize> {
    if !cx.has(input) {
        if end == 0 && cx.runs() {
            cx.fault(Fault::Value { name: "input_sequence", why: "must not be empty" });
        }
        return end.checked_sub(1);
    }
    let place = cx.const_int(input)?;
    let from_start = if place < 0 { place.checked_add(len as i64)? } else { place };
    let found = usize::try_from(from_start).ok().filter(|&place| place < end);
    if found.is_none() && cx.runs() {
        let is = Some(format!("{place}, but the sequence has length {len}"));
        cx.fault(Fault::Constraint { name: "position", is, why: "must be a position in the sequence" });
    }
    found
}

/// Sets the output to a sequence with these element facts, or with `otherwise` if `facts` is empty.
fn put_each(cx: &mut Cx, facts: Vec<Fact>, otherwise: &Fact) {
    let elements = Elements::each(facts, otherwise, cx.bounds());
    cx.put(0, Fact::Sequence(elements));
}

/// `SequenceEmpty`: returns an empty sequence of tensors of type `dtype`.
pub fn empty(cx: &mut Cx) -> Option<()> {
    let elem = cx.elem_attr("dtype").or(Some(ElemType::Float));
    put_each(cx, Vec::new(), &Fact::tensor(elem, Shape::UNKNOWN));
    Some(())
}

/// `SequenceConstruct`: returns a sequence of the inputs.
pub fn construct(cx: &mut Cx) -> Option<()> {
    let facts = (0..cx.inputs()).map(|input| cx.fact(input).cloned().unwrap_or_default()).collect();
    put_each(cx, facts, &Fact::Unknown);
    Some(())
}

/// `SequenceInsert`: inserts an element, by default at the end.
pub fn insert(cx: &mut Cx) -> Option<()> {
    let (elements, new) = (elements_of(cx, 0)?, cx.fact(1)?);
    if let (Some(of), Some(elem)) = (elements.elem(), new.elem())
        && of != elem
    {
        let why = "must have the element type of the sequence";
        cx.fault(Fault::Constraint { name: "tensor", is: Some(elem.to_string()), why });
    }
    let known = elements.facts().and_then(|facts| {
        // The new element is inserted before the position, which may equal the length.
        let at = place(cx, 2, facts.len(), facts.len() + 1)?;
        let mut facts = facts.to_vec();
        facts.insert(at, new.clone());
        Some(facts)
    });
    match known {
        Some(facts) => put_each(cx, facts, elements),
        None => {
            let all = (**elements).join(&new.clone().without_values(), cx.bounds());
            cx.put(0, Fact::sequence(all));
        }
    }
    Some(())
}

/// `SequenceErase`: removes an element, by default the last one.
pub fn erase(cx: &mut Cx) -> Option<()> {
    let elements = elements_of(cx, 0)?;
    let known = elements.facts().and_then(|facts| {
        let at = place(cx, 1, facts.len(), facts.len())?;
        let mut facts = facts.to_vec();
        facts.remove(at);
        Some(facts)
    });
    match known {
        Some(facts) => put_each(cx, facts, elements),
        None => cx.put(0, Fact::sequence((**elements).clone())),
    }
    Some(())
}

/// `SequenceAt`: returns one of the elements.
pub fn at(cx: &mut Cx) -> Option<()> {
    let elements = elements_of(cx, 0)?;
    let known = elements.facts().and_then(|facts| facts.get(place(cx, 1, facts.len(), facts.len())?));
    let fact = known.unwrap_or(&**elements).clone();
    cx.put(0, fact);
    Some(())
}

/// `SequenceLength`: returns the number of elements.
pub fn length(cx: &mut Cx) -> Option<()> {
    let length = elements_of(cx, 0).and_then(Elements::facts).map(|facts| Dim::known(facts.len() as i64));
    cx.put(0, TensorFact::ints(ElemType::Int64, &[], vec![length]).into());
    Some(())
}

/// `SplitToSequence`: splits along an axis, into parts of size 1 by default.
///
/// By the specification, `keepdims` is ignored if the input `split` is given. With `keepdims = 0` and a
/// scalar `split`, ONNX Runtime drops the axis, and fails unless `split` is 1. PyTorch exports `unbind` in
/// this form.
pub fn split(cx: &mut Cx) -> Option<()> {
    let elem = cx.elem(0);
    cx.put(0, Fact::sequence(Fact::tensor(elem, Shape::UNKNOWN)));
    let mut dims = cx.dims(0)?.to_vec();
    let axis = cx.axis_attr(0, dims.len())?;
    let whole = dims[axis].clone();
    let singles = !cx.has(1);
    let keep = cx.int_or("keepdims", 1) != 0 || !singles && cx.rank(1)? > 0;
    let drops_one = singles || cx.int_scalar(1).and_then(|size| size.as_const()) == Some(1);
    if !keep && !drops_one {
        return Some(());
    }
    let mut part = |size: Size| {
        dims[axis] = size;
        let mut dims = dims.clone();
        if !keep {
            dims.remove(axis);
        }
        Fact::tensor(elem, Shape::new(dims))
    };
    let sizes = if singles { equal_sizes(&whole, 1) } else { part_sizes(cx, &whole) };
    match sizes {
        Some(sizes) => {
            let facts = sizes.into_iter().map(&mut part).collect();
            let otherwise = part(None);
            put_each(cx, facts, &otherwise);
        }
        None => {
            let size = if singles { known(1) } else { common_size(cx, &whole) };
            cx.put(0, Fact::sequence(part(size)));
        }
    }
    Some(())
}

/// Returns the part sizes from the second input; each size may be unknown.
///
/// Returns `None` if the number of parts is unknown or too large.
fn part_sizes(cx: &Cx, whole: &Size) -> Option<Vec<Size>> {
    if cx.rank(1)? == 0 {
        return equal_sizes(whole, cx.const_int(1)?);
    }
    cx.ints(1).or_else(|| Some(vec![None; cx.length(1).filter(|&len| len <= MAX_FOLLOWED)?]))
}

/// Returns the sizes of parts of `size` elements; the last part may be smaller.
///
/// Returns `None` if the number of parts is unknown or exceeds [`MAX_FOLLOWED`].
fn equal_sizes(whole: &Size, size: i64) -> Option<Vec<Size>> {
    let whole = number(whole)?;
    let count = usize::try_from(whole.checked_add(size.checked_sub(1)?)?.checked_div(size)?).ok()?;
    let part = |at: usize| known(size.min(whole - at as i64 * size));
    (size > 0 && count <= MAX_FOLLOWED).then(|| (0..count).map(part).collect())
}

/// Returns the size of every part, if the second input is a scalar that divides the axis.
fn common_size(cx: &Cx, whole: &Size) -> Size {
    let size = cx.int_scalar(1).filter(|_| cx.rank(1) == Some(0))?;
    size.divides(whole.as_ref()?, cx.bounds()).is_always().then_some(size)
}

/// `ConcatFromSequence`: concatenates along an axis, or stacks along a new one.
pub fn concat(cx: &mut Cx) -> Option<()> {
    let elements = elements_of(cx, 0)?;
    if elements.facts().is_some_and(<[Fact]>::is_empty) && cx.runs() {
        cx.fault(Fault::Value { name: "input_sequence", why: "must not be empty" });
    }
    let elem = elements.elem();
    cx.set_elem(0, elem);
    let mut dims = elements.dims()?.to_vec();
    let new_axis = cx.flag("new_axis");
    let axis = cx.axis_attr(0, dims.len() + usize::from(new_axis))?;
    if new_axis {
        dims.insert(axis, elements.facts().and_then(|facts| known(facts.len() as i64)));
    } else {
        let size_of = |fact: &Fact| fact.dims().and_then(|dims| dims.get(axis)?.clone());
        let sum = |facts: &[Fact]| facts.iter().fold(known(0), |sum, fact| add(&sum, &size_of(fact)));
        dims[axis] = elements.facts().and_then(sum);
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `OptionalHasElement`: true for a tensor or sequence, false without an input.
pub fn has_element(cx: &mut Cx) -> Option<()> {
    let known = match cx.fact(0) {
        None => Some(false),
        Some(Fact::Tensor(_) | Fact::Sequence(_)) => Some(true),
        Some(_) => None,
    };
    let element = known.map(|has| Dim::known(has.into()));
    cx.put(0, TensorFact::ints(ElemType::Bool, &[], vec![element]).into());
    Some(())
}

/// `Optional`: wraps the input, or returns an empty optional of the attribute `type`.
pub fn optional(cx: &mut Cx) -> Option<()> {
    let inner = match (cx.fact(0), cx.attr("type")) {
        (Some(fact), _) => fact.clone().without_values(),
        (None, Some(crate::graph::AttrValue::Type(ty))) => declared::fact(ty, &mut |_, _| None),
        _ => Fact::Unknown,
    };
    cx.put(0, Fact::optional(inner));
    Some(())
}

/// `OptionalGetElement`: returns the element of an optional, and any other input unchanged.
pub fn get_element(cx: &mut Cx) -> Option<()> {
    let fact = match cx.fact(0)? {
        Fact::Optional(of) => (**of).clone(),
        other => other.clone(),
    };
    cx.put(0, fact);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    /// Returns a graph with a sequence of two elements, a position, and a node.
    fn two_elements(position: i64, node: &str) -> String {
        format!(
            "g (float[n] x) => () {{
                list = SequenceConstruct(x, x)
                at = Constant <value_int = {position}> ()
                {node}
            }}"
        )
    }

    #[test]
    fn positions_outside_a_sequence_are_faults() {
        let fault = "`position` must be a position in the sequence";
        for node in ["y = SequenceAt(list, at)", "y = SequenceErase(list, at)"] {
            check_faults(&two_elements(1, node), &[]);
            check_faults(&two_elements(-2, node), &[]);
            check_faults(&two_elements(2, node), &[fault]);
            check_faults(&two_elements(-3, node), &[fault]);
        }
        let insert = "y = SequenceInsert(list, x, at)";
        check_faults(&two_elements(2, insert), &[]);
        check_faults(&two_elements(-2, insert), &[]);
        check_faults(&two_elements(3, insert), &[fault]);
        check_faults(&two_elements(-3, insert), &[fault]);
    }

    #[test]
    fn empty_sequences_have_no_last_element_and_no_concatenation() {
        let fault = "`input_sequence` must not be empty";
        for node in ["SequenceErase(list)", "ConcatFromSequence <axis = 0> (list)"] {
            check_faults(&format!("g () => () {{ list = SequenceEmpty() y = {node} }}"), &[fault]);
        }
        check_faults("g (float[n] x) => () { list = SequenceEmpty() y = SequenceInsert(list, x) }", &[]);
    }

    #[test]
    fn sequence_operators_track_each_element() {
        let text = "g (float[n, 3] x, float[m, 3] y) => (at, all, length, stacked) {
            list = SequenceConstruct(x, y)
            more = SequenceInsert(list, x)
            one = Constant <value_int = 1> ()
            at = SequenceAt(more, one)
            all = ConcatFromSequence <axis = 0> (more)
            length = SequenceLength(more)
            less = SequenceErase(more, one)
            stacked = ConcatFromSequence <axis = 0, new_axis = 1> (less)
        }";
        check(
            text,
            &["at: float[m, 3]", "all: float[m + 2*n, 3]", "length = [3]", "stacked: float[2, n, 3]"],
        );
    }

    #[test]
    fn sequence_insert_at_a_negative_position_is_before_that_element() {
        let text = "g (float[n, 3] x, float[m, 3] y) => (at, end) {
            list = SequenceConstruct(x, x)
            last = Constant <value_int = -1> ()
            one = Constant <value_int = 1> ()
            more = SequenceInsert(list, y, last)
            at = SequenceAt(more, one)
            end = SequenceAt(more, last)
        }";
        check(text, &["at: float[m, 3]", "end: float[n, 3]"]);
    }

    #[test]
    fn sequence_at_an_unknown_position_joins_the_elements() {
        let text = "g (float[n, 3] x, float[m, 3] y, int64 i) => (at) {
            list = SequenceConstruct(x, y)
            at = SequenceAt(list, i)
        }";
        check(text, &["list: seq(float[?, 3])", "at: float[at_dim_0, 3]"]);
    }

    #[test]
    fn split_to_sequence_follows_onnx_runtime_for_keepdims() {
        let text = "g (float[n, 7] x) => (last, same) {
            three = Constant <value_int = 3> ()
            two = Constant <value_int = 2> ()
            list = SplitToSequence <axis = 1> (x, three)
            last = SequenceAt(list, two)
            rows = SplitToSequence <keepdims = 0> (x)
            same = SequenceAt(rows, two)
        }";
        check(text, &["last: float[n, 1]", "same: float[7]"]);
        let text = "g (float[n, 7] x) => (dropped, unknown, kept) {
            one = Constant <value_int = 1> ()
            two = Constant <value_int = 2> ()
            sizes = Constant <value_ints = [1, 6]> ()
            rows = SplitToSequence <keepdims = 0> (x, one)
            dropped = SequenceAt(rows, two)
            pairs = SplitToSequence <keepdims = 0> (x, two)
            unknown = SequenceAt(pairs, two)
            parts = SplitToSequence <axis = 1, keepdims = 0> (x, sizes)
            kept = SequenceAt(parts, one)
        }";
        check(text, &["dropped: float[7]", "unknown: float[...]", "kept: float[n, 6]"]);
    }

    #[test]
    fn optional_operators_wrap_and_unwrap() {
        check_call("float[n] x", "Optional(x)", "optional(float[n])");
        check_call("float[n] x", "OptionalGetElement(x)", "float[n]");
        check("g (optional(seq(float[n])) x) => (y) { y = OptionalGetElement(x) }", &["y: seq(float[?])"]);
        check("g (float[n] x) => (y) { y = OptionalHasElement(x) }", &["y = [1]"]);
    }
}
