//! Shape rules of operators that create tensors from attributes, shapes or numbers.

use super::Cx;
use crate::graph::{AttrValue, ElemType};
use crate::infer::eval::Array;
use crate::infer::fact::{Fact, TensorFact};
use crate::infer::load;
use crate::infer::shape::Shape;

/// `Constant`: the output is the value of an attribute.
pub fn constant(cx: &mut Cx) -> Option<()> {
    let fact = match cx.attr("value") {
        Some(AttrValue::Tensor(id)) => load::tensor(cx.tensor_of(*id), *id),
        _ => None,
    };
    let fact = fact.or_else(|| sparse(cx)).or_else(|| constant_of_attribute(cx).map(Fact::from));
    cx.put(0, fact?);
    Some(())
}

/// Returns the fact of the attribute `sparse_value`.
fn sparse(cx: &Cx) -> Option<Fact> {
    let Some(AttrValue::SparseTensor(sparse)) = cx.attr("sparse_value") else { return None };
    let elem = sparse.values.as_ref().and_then(|values| values.elem());
    Some(Fact::tensor(elem, Shape::known(&sparse.dims)))
}

/// Returns the fact of a `value_*` attribute.
fn constant_of_attribute(cx: &Cx) -> Option<TensorFact> {
    let vector = |len: usize| vec![len];
    let names = ["value_int", "value_ints", "value_float", "value_floats", "value_string", "value_strings"];
    let array = match names.iter().find_map(|name| cx.attr(name))? {
        AttrValue::Int(int) => Array::i64s(vec![], vec![*int]),
        AttrValue::Ints(ints) => Array::i64s(vector(ints.len()), ints.clone()),
        AttrValue::Float(float) => Array::from_f64s(ElemType::Float, vec![], vec![f64::from(*float)]),
        AttrValue::Floats(floats) => {
            let wide = floats.iter().map(|&float| f64::from(float)).collect();
            Array::from_f64s(ElemType::Float, vector(floats.len()), wide)
        }
        AttrValue::String(string) => Array::strings(vec![], vec![string.to_vec()]),
        AttrValue::Strings(strings) => {
            let bytes = strings.iter().map(|string| string.to_vec()).collect();
            Array::strings(vector(strings.len()), bytes)
        }
        _ => return None,
    };
    Some(TensorFact::constant(array.ok()?))
}

/// `ConstantOfShape`: the input holds the output dimensions.
pub fn constant_of_shape(cx: &mut Cx) -> Option<()> {
    let elem = match cx.attr("value") {
        Some(AttrValue::Tensor(id)) => cx.tensor_of(*id).elem(),
        Some(_) => None,
        None => Some(ElemType::Float),
    };
    cx.set_elem(0, elem);
    let dims = cx.ints(0).or_else(|| Some(vec![None; cx.length(0)?]))?;
    cx.set_dims(0, dims);
    Some(())
}

/// `Shape`: returns the dimensions of the input from `start` to `end`.
pub fn shape(cx: &mut Cx) -> Option<()> {
    let Some(dims) = cx.dims(0) else {
        cx.set_shape(0, Shape::of_rank(1));
        return Some(());
    };
    let rank = dims.len() as i64;
    let clamp = |at: i64| usize::try_from(if at < 0 { at + rank } else { at }.clamp(0, rank)).unwrap_or(0);
    let (start, end) = (clamp(cx.int_or("start", 0)), clamp(cx.int_or("end", rank)));
    let dims = dims.get(start..end).unwrap_or_default().to_vec();
    cx.put(0, TensorFact::ints(ElemType::Int64, &[dims.len()], dims).into());
    Some(())
}

/// `Size`: returns the number of elements of the input.
pub fn size(cx: &mut Cx) -> Option<()> {
    let count = cx.shape(0).numel();
    cx.put(0, TensorFact::ints(ElemType::Int64, &[], vec![count]).into());
    Some(())
}

/// `RandomNormal` and `RandomUniform`: shape and element type are attributes.
pub fn random(cx: &mut Cx) -> Option<()> {
    let elem = cx.elem_attr("dtype").or(Some(ElemType::Float));
    cx.set_elem(0, elem);
    let shape = Shape::known(cx.ints_attr("shape")?);
    cx.set_shape(0, shape);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call};

    #[test]
    fn constant_attributes_determine_type_and_shape() {
        check_call("", "Constant <value_floats = [1.0, 2.0]> ()", "float[2]");
        check_call("", "Constant <value_string = \"a\"> ()", "string[]");
        check_call("", "RandomNormal <shape = [2, 3], dtype = 11> ()", "double[2, 3]");
        check_call("int64[3] s", "ConstantOfShape(s)", "float[y0_dim_0, y0_dim_1, y0_dim_2]");
    }

    #[test]
    fn shape_and_size_are_tracked_as_elements() {
        let text = "g (float[n, 3, m] x) => (all, last, count, zeros) {
            all = Shape(x)
            last = Shape <start = -2> (x)
            count = Size(x)
            zeros = ConstantOfShape(last)
        }";
        check(text, &["all = [n, 3, m]", "last = [3, m]", "count = [3*m*n]", "zeros: float[3, m]"]);
    }
}
