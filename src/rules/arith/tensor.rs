//! Tensors made from numbers.

use std::sync::Arc;

use super::elem::elem;
use super::{MAX_LIST, ints};
use crate::graph::{ElemType, Tensor};
use crate::infer::eval::Array;
use crate::rules::datum::Datum;
use crate::rules::func::Func;

pub fn call(func: Func, args: &[Datum]) -> Option<Datum> {
    let tensor = match (func, args) {
        (Func::Tensor, [ty, Datum::List(items)]) => {
            make(elem(ty)?, vec![i64::try_from(items.len()).ok()?], items)?
        }
        (Func::Tensor, [ty, item]) => make(elem(ty)?, Vec::new(), std::slice::from_ref(item))?,
        (Func::Reshaped, [Datum::Tensor(tensor), Datum::List(dims)]) => {
            let mut reshaped = Tensor::clone(tensor);
            reshaped.dims = ints(dims)?;
            (reshaped.len()? == tensor.len()?).then_some(reshaped)?
        }
        (Func::Full, [ty, Datum::List(dims), item]) => {
            let dims = ints(dims)?;
            let sizes = dims.iter().map(|&dim| usize::try_from(dim).ok());
            let len = sizes.into_iter().try_fold(1usize, |len, dim| len.checked_mul(dim?))?;
            (len <= MAX_LIST).then(|| make(elem(ty)?, dims, &vec![item.clone(); len]))??
        }
        _ => return None,
    };
    Some(Datum::Tensor(Arc::new(tensor)))
}

/// `None` where an integer does not fit in the type, or a fraction is to become an integer; floats are
/// rounded.
fn make(elem: ElemType, dims: Vec<i64>, items: &[Datum]) -> Option<Tensor> {
    let shape = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<_>>>()?;
    let array = if elem.is_float() {
        Array::from_f64s(elem, shape, items.iter().map(float).collect::<Option<_>>()?).ok()?
    } else {
        let whole = items.iter().map(whole).collect::<Option<Vec<_>>>()?;
        let array = Array::from_ints(elem, shape, whole.clone()).ok()?;
        (array.ints().ok()? == whole).then_some(array)?
    };
    Some(Tensor::from_raw(elem, dims, array.to_raw()?))
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
        _ => None,
    }
}
