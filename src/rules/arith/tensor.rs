//! Rule functions that create tensors.

use std::sync::Arc;

use super::elem::elem;
use super::{MAX_LIST, ints};
use crate::graph::{ElemType, Tensor};
use crate::infer::{self, eval::Array};
use crate::rules::datum::Datum;
use crate::rules::func::Func;

/// Evaluates a function that creates a tensor; `None` if the function is undefined for these arguments.
pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    let tensor = match (func, args) {
        (Func::Tensor, [ty, Datum::List(items)]) => {
            make(elem(ty)?, &[i64::try_from(items.len()).ok()?], &items.iter().collect::<Vec<_>>())?
        }
        (Func::Tensor, [ty, item]) => make(elem(ty)?, &[], &[item])?,
        (Func::Reshaped, [Datum::Tensor(tensor), Datum::List(dims)]) => {
            let mut reshaped = Tensor::clone(tensor);
            reshaped.dims = ints(dims)?;
            (reshaped.len()? == tensor.len()?).then_some(reshaped)?
        }
        (Func::Full, [ty, Datum::List(dims), item]) => {
            let dims = ints(dims)?;
            let sizes = dims.iter().map(|&dim| usize::try_from(dim).ok());
            let len = sizes.into_iter().try_fold(1usize, |len, dim| len.checked_mul(dim?))?;
            (len <= MAX_LIST).then(|| make(elem(ty)?, &dims, &vec![item; len]))??
        }
        _ => return None,
    };
    Some(Datum::Tensor(Arc::new(tensor)))
}

/// Converts a number or string, or nested lists of them, to an array.
/// Floats are rounded to the float type.
/// Returns `None` for data that do not fit, such as ragged lists, integers out of range, or floats for integers.
pub fn array(elem: ElemType, datum: &Datum) -> Option<Array> {
    let (mut shape, mut items) = (Vec::new(), Vec::new());
    flatten(datum, 0, &mut shape, &mut items)?;
    array_of(elem, shape, &items)
}

fn flatten<'d>(
    datum: &'d Datum,
    depth: usize,
    shape: &mut Vec<usize>,
    items: &mut Vec<&'d Datum>,
) -> Option<()> {
    let Datum::List(list) = datum else {
        items.push(datum);
        return (depth == shape.len()).then_some(());
    };
    if depth == shape.len() {
        shape.push(list.len());
    }
    if shape[depth] != list.len() {
        return None;
    }
    list.iter().try_for_each(|item| flatten(item, depth + 1, shape, items))
}

fn array_of(elem: ElemType, shape: Vec<usize>, items: &[&Datum]) -> Option<Array> {
    if elem == ElemType::Bool {
        let truths = items.iter().map(|item| whole(item).map(|truth| truth != 0));
        return Array::bools(shape, truths.collect::<Option<_>>()?).ok();
    }
    if elem == ElemType::String {
        let texts = items.iter().map(|item| match item {
            Datum::Str(text) => Some(text.as_bytes().to_vec()),
            _ => None,
        });
        return Array::strings(shape, texts.collect::<Option<_>>()?).ok();
    }
    if elem.is_float() {
        return Array::from_f64s(elem, shape, items.iter().map(|item| float(item)).collect::<Option<_>>()?)
            .ok();
    }
    let whole = items.iter().map(|item| whole(item)).collect::<Option<Vec<_>>>()?;
    let array = Array::from_ints(elem, shape, whole.clone()).ok()?;
    (array.ints().ok()? == whole).then_some(array)
}

fn make(elem: ElemType, dims: &[i64], items: &[&Datum]) -> Option<Tensor> {
    let shape = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<_>>>()?;
    array_of(elem, shape, items).map(|array| infer::tensor_of(&array))
}

fn float(datum: &Datum) -> Option<f64> {
    match datum {
        Datum::Float(float) => Some(*float),
        other => whole(other).map(|int| int as f64),
    }
}

fn whole(datum: &Datum) -> Option<i128> {
    match datum {
        Datum::Int(int) => Some(i128::from(*int)),
        Datum::Bool(truth) => Some(i128::from(*truth)),
        Datum::Dim(dim) => dim.as_const().map(i128::from),
        _ => None,
    }
}
