//! Conversion between element types.

use crate::graph::element::ElemType;
use crate::infer::eval::cx::Cx;
use crate::infer::eval::math::elem_attr;
use crate::infer::eval::minifloat::{Format, ScaleRounding};
use crate::infer::eval::{Array, Attr, Buffer, Refusal, Result, bad, int_range};

/// Computes `Cast`.
pub(super) fn cast(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    // Before opset 6 the attribute is the name of the type.
    let to = match cx.attr("to") {
        Some(Attr::Str(name)) => std::str::from_utf8(name)
            .ok()
            .and_then(|name| name.to_ascii_lowercase().parse().ok())
            .ok_or(Refusal::BadInput("unknown element type"))?,
        _ => elem_attr(cx, "to")?.ok_or(Refusal::BadInput("the attribute `to` is required"))?,
    };
    convert(cx, x, to)
}

/// Computes `CastLike`, which casts to the element type of the second input.
pub(super) fn cast_like(cx: &Cx) -> Result<Array> {
    convert(cx, cx.tensor(0)?, cx.tensor(1)?.elem())
}

fn convert(cx: &Cx, x: &Array, to: ElemType) -> Result<Array> {
    cx.room(x.shape())?;
    let rounding = match cx.text("round_mode", "up").as_str() {
        "up" => ScaleRounding::Up,
        "down" => ScaleRounding::Down,
        "nearest" => ScaleRounding::Nearest,
        _ => return bad("unknown value of `round_mode`"),
    };
    cast_with(x, to, cx.flag("saturate", true)?, rounding)
}

/// Converts like `Cast` with default attributes.
pub fn cast_to(x: &Array, to: ElemType) -> Result<Array> {
    cast_with(x, to, true, ScaleRounding::Up)
}

fn cast_with(x: &Array, to: ElemType, saturate: bool, rounding: ScaleRounding) -> Result<Array> {
    let shape = x.shape().to_vec();
    let from = x.elem();
    if from == to {
        return Ok(x.clone());
    }
    if from.is_complex() || to.is_complex() {
        return Err(Refusal::Unsupported);
    }
    if from == ElemType::String {
        return parse(x, to);
    }
    if to == ElemType::String {
        return Array::strings(shape, format_numbers(x)?);
    }
    if !from.is_float() && (to.is_integer() || to == ElemType::Bool || Format::of(to).is_none()) {
        return Array::from_ints(to, shape, x.ints()?);
    }
    let values = x.f64s()?;
    if to.is_integer() {
        return to_integers(to, shape, values);
    }
    if let Some(format) = Format::of(to) {
        let codes = values.into_iter().map(|value| match to {
            ElemType::Float8e8m0 => format.encode_scale(value, rounding, saturate) as u8,
            _ => format.encode(value, saturate) as u8,
        });
        return Array::new(to, shape, Buffer::Codes(codes.collect()));
    }
    Array::from_f64s(to, shape, values)
}

/// Truncates toward zero. Fails for values out of range, whose result is undefined.
/// For types below 8 bits, keeps the low bits of finite values out of range, as ONNX's reference does.
fn to_integers(to: ElemType, shape: Vec<usize>, values: Vec<f64>) -> Result<Array> {
    let whole: Vec<i128> = values.iter().map(|value| value.trunc() as i128).collect();
    let (low, high) = int_range(to);
    let narrow = to.bits().is_some_and(|bits| bits < 8);
    if values.iter().any(|value| !value.is_finite())
        || !narrow && whole.iter().any(|value| !(low..=high).contains(value))
    {
        return bad("a number is out of range for the integer type");
    }
    Array::from_ints(to, shape, whole)
}

/// Parses strings: integers for integer types, any number for floats.
fn parse(x: &Array, to: ElemType) -> Result<Array> {
    let shape = x.shape().to_vec();
    let texts = x.as_strings()?.iter().map(|text| std::str::from_utf8(text).map(str::trim));
    let texts: Vec<&str> = texts.collect::<std::result::Result<_, _>>().map_err(|_| NOT_A_NUMBER)?;
    if to.is_integer() {
        let (low, high) = int_range(to);
        let number = |text: &&str| text.parse().ok().filter(|number| (low..=high).contains(number));
        let whole: Option<Vec<i128>> = texts.iter().map(number).collect();
        return Array::from_ints(to, shape, whole.ok_or(NOT_A_NUMBER)?);
    }
    if to == ElemType::Bool {
        return Err(Refusal::Unsupported);
    }
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.parse().ok()).collect();
    let numbers = Array::from_f64s(ElemType::Double, shape, numbers.ok_or(NOT_A_NUMBER)?)?;
    cast_to(&numbers, to)
}

const NOT_A_NUMBER: Refusal = Refusal::BadInput("a string is not a number of the target type");

/// Formats integers as digits; fails for other types.
/// The specification leaves float digits and `bool` spelling open, and runtimes differ.
fn format_numbers(x: &Array) -> Result<Vec<Vec<u8>>> {
    if !x.elem().is_integer() {
        return Err(Refusal::Unsupported);
    }
    Ok(x.ints()?.iter().map(|value| value.to_string().into_bytes()).collect())
}
