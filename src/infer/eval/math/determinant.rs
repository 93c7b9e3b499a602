//! Determinants.

use crate::infer::eval::cx::Cx;
use crate::infer::eval::{Array, Result, bad};

/// Computes `Det` of a stack of square matrices; the last two axes are removed.
pub(super) fn det(cx: &Cx) -> Result<Array> {
    let x = cx.tensor(0)?;
    let [lead @ .., n, columns] = x.shape() else { return bad("the input must consist of square matrices") };
    if n != columns {
        return bad("the input must consist of square matrices");
    }
    let count = cx.room(lead)?;
    cx.work(&[count, *n, *n, *n])?;
    let data = x.f64s()?;
    let all = (0..count).map(|i| eliminate(data[i * n * n..(i + 1) * n * n].to_vec(), *n)).collect();
    Array::from_f64s(x.elem(), lead.to_vec(), all)
}

/// Computes the determinant by Gaussian elimination with partial pivoting.
fn eliminate(mut m: Vec<f64>, n: usize) -> f64 {
    // The determinant of a 1×1 matrix is its element; returning it preserves a negative zero.
    if let [only] = m[..] {
        return only;
    }
    let mut product = 1.0;
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if m[i * n + k].abs() > m[pivot * n + k].abs() {
                pivot = i;
            }
        }
        if m[pivot * n + k] == 0.0 {
            return 0.0;
        }
        if pivot != k {
            (0..n).for_each(|j| m.swap(k * n + j, pivot * n + j));
            product = -product;
        }
        product *= m[k * n + k];
        for i in k + 1..n {
            let factor = m[i * n + k] / m[k * n + k];
            (k..n).for_each(|j| m[i * n + j] -= factor * m[k * n + j]);
        }
    }
    product
}
