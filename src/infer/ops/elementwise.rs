//! Shape rules of element-wise operators.

use super::Cx;
use crate::graph::ElemType;
use crate::graph::dim::{Broadcast, Dim, broadcast};
use crate::infer::fault::Fault;
use crate::infer::shape::{Shape, Size};

/// Sets the shape of every output to that of the first input.
pub fn same(cx: &mut Cx) -> Option<()> {
    let shape = cx.shape(0);
    for output in 0..cx.outs.len() {
        cx.set_shape(output, shape.clone());
    }
    Some(())
}

/// Broadcasts all inputs.
pub fn broadcast_all(cx: &mut Cx) -> Option<()> {
    let inputs: Vec<usize> = (0..cx.inputs()).collect();
    let shape = broadcast_inputs(cx, &inputs)?;
    cx.set_shape(0, shape);
    Some(())
}

/// Broadcasts two inputs. Before opset 7, the output always has the shape of the first input.
pub fn binary(cx: &mut Cx) -> Option<()> {
    if cx.since() < 7 && cx.call().domain.is_empty() { same(cx) } else { broadcast_pair(cx) }
}

/// Broadcasts the first two inputs, and ignores others such as scales and zero points.
pub fn broadcast_pair(cx: &mut Cx) -> Option<()> {
    let shape = broadcast_inputs(cx, &[0, 1])?;
    cx.set_shape(0, shape);
    Some(())
}

/// `Sum`, `Max`, `Mean` and `Min`: broadcast all inputs; before opset 8, all have the same shape.
pub fn variadic(cx: &mut Cx) -> Option<()> {
    if cx.since() < 8 { same(cx) } else { broadcast_all(cx) }
}

/// Returns the broadcast shape of these inputs. Records a fault if the inputs do not broadcast.
pub fn broadcast_inputs(cx: &mut Cx, inputs: &[usize]) -> Option<Shape> {
    let (&first, rest) = inputs.split_first()?;
    let mut shape = cx.shape(first).dims()?.to_vec();
    for &input in rest {
        let Some(joined) = broadcast_shapes(&shape, cx.dims(input)?, cx) else {
            let shapes = (Shape::new(shape), cx.shape(input));
            cx.fault(Fault::NotBroadcastable { inputs: (first, input), shapes });
            return None;
        };
        shape = joined;
    }
    Some(Shape::new(shape))
}

/// Returns the broadcast of two shapes, or `None` if the shapes do not broadcast.
pub fn broadcast_shapes(a: &[Size], b: &[Size], cx: &Cx) -> Option<Vec<Size>> {
    let rank = a.len().max(b.len());
    let one = Some(Dim::known(1));
    let at = |dims: &[Size], axis: usize| {
        (axis + dims.len()).checked_sub(rank).map_or(one.clone(), |axis| dims[axis].clone())
    };
    (0..rank).map(|axis| broadcast_sizes(&at(a, axis), &at(b, axis), cx)).collect()
}

/// Returns the broadcast of two sizes, or `None` if the sizes do not broadcast.
///
/// `Some(None)` means that the sizes may broadcast, but the broadcast size is unknown.
pub fn broadcast_sizes(a: &Size, b: &Size, cx: &Cx) -> Option<Size> {
    let (known, bounds) = (|dim: &Dim| Some(Some(dim.clone())), cx.bounds());
    match (a, b) {
        (Some(a), Some(b)) => match broadcast(a, b, bounds) {
            Broadcast::Dim(dim) => Some(Some(dim)),
            Broadcast::Unknown => Some(gives_way(a, b).or_else(|| gives_way(b, a))),
            Broadcast::Conflict => None,
        },
        // If the known size is never 1, the unknown size is 1 or equal to the known size in every successful
        // run.
        (Some(dim), None) | (None, Some(dim)) => {
            let is_one = dim.equals(&Dim::known(1), bounds);
            if is_one.is_never() { known(dim) } else { Some(None) }
        }
        (None, None) => Some(None),
    }
}

/// Returns `b` if `a` is always 1 or equal to `b` in runs where `a` and `b` broadcast.
///
/// The condition is proved if `b` is a symbol, and `a` is 1 whenever `b` is 1. For example, `min(n, 512)` and
/// `n` broadcast to `n` in every successful run.
fn gives_way(a: &Dim, b: &Dim) -> Size {
    let symbol = b.as_symbol()?;
    let at_one = a.substitute(&|other| (other == symbol).then(|| Dim::known(1)))?;
    (at_one.as_const() == Some(1)).then(|| b.clone())
}

/// `Cast`: the element type is the attribute `to`.
pub fn cast(cx: &mut Cx) -> Option<()> {
    same(cx)?;
    let elem = match cx.attr("to").and_then(|to| to.as_str()) {
        // Before opset 6, the attribute is a string such as "FLOAT".
        Some(name) => name.to_lowercase().parse().ok(),
        None => cx.elem_attr("to"),
    };
    cx.set_elem(0, elem);
    Some(())
}

/// `EyeLike` and others: the output has the shape of the input and, unless `dtype` is given, its type.
pub fn like(cx: &mut Cx) -> Option<()> {
    same(cx)?;
    let elem = cx.elem_attr("dtype").or_else(|| cx.elem(0));
    cx.set_elem(0, elem);
    Some(())
}

/// `QuantizeLinear`: the element type is that of the zero point, else `output_dtype`, else `uint8`.
pub fn quantize(cx: &mut Cx) -> Option<()> {
    same(cx)?;
    let named = cx.elem_attr("output_dtype");
    let elem = if cx.has(2) { cx.elem(2) } else { named.or(Some(ElemType::Uint8)) };
    cx.set_elem(0, elem);
    Some(())
}

/// `DequantizeLinear`: the element type is `output_dtype`, else the schema's, else that of the scale.
pub fn dequantize(cx: &mut Cx) -> Option<()> {
    same(cx)?;
    let elem = cx.elem_attr("output_dtype").or(cx.outs.first()?.elem()).or(cx.elem(1));
    cx.set_elem(0, elem);
    Some(())
}

/// `DynamicQuantizeLinear`: returns a quantized tensor, its scale and its zero point.
pub fn dynamic_quantize(cx: &mut Cx) -> Option<()> {
    cx.set_shape(1, Shape::scalar());
    cx.set_shape(2, Shape::scalar());
    let shape = cx.shape(0);
    cx.set_shape(0, shape);
    Some(())
}

/// `CastLike`: the output has the shape of the first input and the element type of the second.
pub fn cast_like(cx: &mut Cx) -> Option<()> {
    same(cx)?;
    let elem = cx.elem(1);
    cx.set_elem(0, elem);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call, check_faults};

    #[test]
    fn operands_are_broadcast() {
        check_call("float[n, 1, 4] a, float[m, 1] b", "Add(a, b)", "float[n, m, 4]");
        check_call("float[n] a, float[7] b", "Mul(a, b)", "float[7]");
        check_call("float a, float[n] b", "Sub(a, b)", "float[n]");
        check_call("float[n] a, float[m] b", "Add(a, b)", "float[y0_dim_0]");
        check_call("bool[n, 1] c, float[3] a, float[1, 3] b", "Where(c, a, b)", "float[n, 3]");
        check_call("float[2] a, float[n, 2] b, float[1, 1] c", "Max(a, b, c)", "float[n, 2]");
        check_faults(
            "g (float[n, 2] a, float[3] b) => (y) { y = Add(a, b) }",
            &["inputs 0 and 1 do not broadcast: [n, 2] and [3]"],
        );
    }

    #[test]
    fn minimum_with_a_symbol_broadcasts_to_the_symbol() {
        let text = "g (float[n, 8] x) => (y) {
            table = Constant <value = float[16, 8] {1}> ()
            zero = Constant <value_ints = [0]> ()
            shape = Shape <end = 1> (x)
            rows = Slice(table, zero, shape)
            y = Add(x, rows)
        }";
        let text =
            text.replace("float[16, 8] {1}", &format!("float[16, 8] {{{}}}", vec!["1"; 128].join(",")));
        check(&text, &["rows: float[min(16, n), 8]", "y: float[n, 8]"]);
    }

    #[test]
    fn element_types_follow_attributes_and_schema() {
        check_call("float[n] x", "Cast <to = 7> (x)", "int64[n]");
        check_call("float[n] x, float16[3] like", "CastLike(x, like)", "float16[n]");
        check_call("int64[n] a, int64[n] b", "Less(a, b)", "bool[n]");
        check_call("float[n, n] x", "EyeLike <dtype = 6> (x)", "int32[n, n]");
        check_call("float[n, 4] x, float s, int8 z", "QuantizeLinear(x, s, z)", "int8[n, 4]");
        check_call("float[n, 4] x, float s", "QuantizeLinear(x, s)", "uint8[n, 4]");
        check_call("int8[n, 4] x, float16 s", "DequantizeLinear(x, s)", "float16[n, 4]");
        check_call("float[n] x", "DynamicQuantizeLinear(x)", "uint8[n]; float[]; uint8[]");
        check_call("float[n] x", "Dropout(x)", "float[n]; bool[n]");
        check_faults(
            "g (float[n] a, double[n] b) => (y) { y = Mul(a, b) }",
            &["inputs 0 and 1 must have the same type (T), but are float and double"],
        );
    }
}
