//! DTY003 and DTY005: casts that overflow or lose precision.

use half::bf16;

use super::Detector;
use crate::analyses::LintContext;
use crate::analyses::locate::Part;
use crate::diag::rule_ids::{CONSTANT_OVERFLOW, LOSSY_CAST_CHAIN};
use crate::diag::{Finding, Level, Sink};
use crate::graph::{ElemType, NodeId, ValueId};
use crate::infer::Fact;

/// Detector of DTY003 and DTY005.
pub const DETECTOR: Detector = Detector { rules: &[CONSTANT_OVERFLOW, LOSSY_CAST_CHAIN], run };

fn overflow(cx: &LintContext, node: NodeId, number: f64, to: ElemType) -> Finding {
    let message =
        format!("the constant {number:e} overflows {to}, to which `{}` converts it", cx.node_name(node));
    let finding = cx.at_node(CONSTANT_OVERFLOW, node, Part::Input(0), message);
    if !to.is_float() {
        return finding
            .label("becomes an arbitrary number here")
            .help(format!("use a number in the range of {to}, or a wider type"));
    }
    finding
        .label("becomes infinity here")
        .note("infinities in a mask lead to NaN if a whole row is masked, or if the mask is multiplied by 0")
        .help("use the limit of the computation type: torch.finfo(x.dtype).min")
}

/// Creates the finding of a mask that overflows when it is converted.
///
/// The mask is a 0/1 mask times a number such as -1e9, which the conversion makes -inf. The softmax of a mask
/// with -inf is correct unless a whole row is masked.
fn masking(cx: &LintContext, node: NodeId, number: f64, to: ElemType) -> Finding {
    let message =
        format!("`{}` converts a mask of 0 and {number:e} to {to}, which overflows", cx.node_name(node));
    cx.at_node(CONSTANT_OVERFLOW.at(Level::Info), node, Part::Input(0), message)
        .label("becomes infinity here")
        .note("the softmax of a fully masked row is NaN, because all its elements are -inf")
        .help("use the limit of the computation type: torch.finfo(x.dtype).min")
}

fn lossy(cx: &LintContext, node: NodeId, chain: (ElemType, ElemType, ElemType)) -> Finding {
    let (from, by, to) = chain;
    let message = format!(
        "{from} is converted to {by} and then to {to}, which limits precision and range to those of {by}"
    );
    cx.at_node(LOSSY_CAST_CHAIN, node, Part::Whole, message)
        .label(format!("from {by} to {to}"))
        .help(format!("convert to {to} directly, unless the rounding is intended"))
}

fn run(cx: &LintContext, sink: &mut Sink) {
    for (id, node) in cx.nodes() {
        if !(node.domain().is_empty() && matches!(&*node.op_type, "Cast" | "CastLike")) {
            continue;
        }
        let (Some(input), Some(to)) =
            (node.input(0), node.output(0).and_then(|value| cx.facts[value].elem()))
        else {
            continue;
        };
        let worst = too_large(&cx.facts[input], to);
        sink.extend(worst.map(|number| overflow(cx, id, number, to)));
        sink.extend(mask_of(cx, input, to).map(|number| masking(cx, id, number, to)));
        sink.extend(chain(cx, input, to).map(|chain| lossy(cx, id, chain)));
    }
}

/// Returns the finite element of largest magnitude that overflows `to`, if `fact` is a float constant.
fn too_large(fact: &Fact, to: ElemType) -> Option<f64> {
    let (least, most) = range(to)?;
    let array = fact.as_const().filter(|array| array.elem().is_float())?;
    let outside = |number: &f64| number.is_finite() && !(least..=most).contains(number);
    array.f64s().ok()?.into_iter().filter(outside).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// Returns the constant factor of a 0/1 mask if the factor overflows the float type `to`.
///
/// Example: -1e9 in `(1 - keep) * -1e9`.
fn mask_of(cx: &LintContext, value: ValueId, to: ElemType) -> Option<f64> {
    let (least, most) = range(to).filter(|_| to.is_float())?;
    let made_by = |value: ValueId| Some(&cx.model.nodes[cx.model.producer(value)?.0]);
    let product = made_by(value).filter(|node| node.is("Mul"))?;
    let [Some(a), Some(b)] = product.inputs[..] else { return None };
    let (number, mask) = if cx.facts[a].is_const() { (a, b) } else { (b, a) };
    let is_mask = made_by(mask).is_some_and(|node| match (&*node.op_type, cx.input(node, 0)) {
        ("Sub", Some(one)) => one.as_const().is_some_and(|one| one.f64s().is_ok_and(|ones| ones == [1.0])),
        ("Cast", Some(from)) => from.elem() == Some(ElemType::Bool),
        _ => false,
    });
    let numbers = cx.facts[number].as_const().filter(|_| is_mask)?.f64s().ok()?;
    let [number] = numbers[..] else { return None };
    (number.is_finite() && !(least..=most).contains(&number)).then_some(number)
}

/// Returns the minimum and maximum finite numbers of a type; `None` for types that are not checked.
fn range(elem: ElemType) -> Option<(f64, f64)> {
    Some(match elem {
        ElemType::Float16 => (-65504.0, 65504.0),
        ElemType::Bfloat16 => (bf16::MIN.to_f64(), bf16::MAX.to_f64()),
        ElemType::Float => (f64::from(f32::MIN), f64::from(f32::MAX)),
        ElemType::Int8 => (-128.0, 127.0),
        ElemType::Int16 => (-32768.0, 32767.0),
        ElemType::Int32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        ElemType::Int64 => (-9_223_372_036_854_775_808.0, 9_223_372_036_854_774_784.0),
        ElemType::Uint8 => (0.0, 255.0),
        ElemType::Uint16 => (0.0, 65535.0),
        ElemType::Uint32 => (0.0, f64::from(u32::MAX)),
        _ => return None,
    })
}

/// Returns the types of two consecutive casts through a narrower type.
///
/// The narrower type is of the same kind (float or integer) as the types before and after it, but has fewer
/// bits.
fn chain(cx: &LintContext, input: ValueId, to: ElemType) -> Option<(ElemType, ElemType, ElemType)> {
    let (maker, _) = cx.model.producer(input)?;
    let maker = &cx.model.nodes[maker];
    let is_cast = maker.is("Cast");
    let (from, by) = (cx.input(maker, 0)?.elem()?, cx.facts[input].elem()?);
    let same_kind =
        |a: ElemType, b: ElemType| a.is_float() && b.is_float() || a.is_integer() && b.is_integer();
    let narrow = by.bits()? < from.bits()? && by.bits()? < to.bits()?;
    (is_cast && narrow && same_kind(from, by) && same_kind(by, to)).then_some((from, by, to))
}
