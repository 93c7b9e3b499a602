//! Shape rules of matrix products and `Einsum`.

use indexmap::IndexMap;

use super::Cx;
use super::elementwise::{broadcast_shapes, broadcast_sizes};
use crate::infer::fact::Fact;
use crate::infer::fault::{Expected, Fault};
use crate::infer::meet::meet_sizes;
use crate::infer::shape::{Shape, Size, known};

/// `MatMul`, with the semantics of NumPy.
pub fn matmul(cx: &mut Cx) -> Option<()> {
    product(cx, 0, 1)
}

/// `QLinearMatMul`: scale and zero point follow each operand.
pub fn qlinear(cx: &mut Cx) -> Option<()> {
    product(cx, 0, 3)
}

/// Infers the product of two inputs.
///
/// A vector is a row on the left and a column on the right; the added axis is removed from the result.
fn product(cx: &mut Cx, a: usize, b: usize) -> Option<()> {
    cx.expect_rank_at_least(a, 1)?;
    cx.expect_rank_at_least(b, 1)?;
    let (x, y) = (cx.dims(a)?, cx.dims(b)?);
    cx.same_size((a, x.len() - 1), (b, y.len().saturating_sub(2)));
    let (x_batch, y_batch) = (&x[..x.len().saturating_sub(2)], &y[..y.len().saturating_sub(2)]);
    let Some(mut dims) = broadcast_shapes(x_batch, y_batch, cx) else {
        let shapes = (Shape::new(x_batch), Shape::new(y_batch));
        cx.fault(Fault::NotBroadcastable { inputs: (a, b), shapes });
        return None;
    };
    if x.len() > 1 {
        dims.push(x[x.len() - 2].clone());
    }
    if y.len() > 1 {
        dims.push(y[y.len() - 1].clone());
    }
    cx.set_dims(0, dims);
    Some(())
}

/// `com.microsoft.FusedMatMul`: can transpose the last two axes of each operand first.
pub fn fused(cx: &mut Cx) -> Option<()> {
    if cx.flag("transBatchA") || cx.flag("transBatchB") {
        return None;
    }
    let operand = |input: usize, transposed: bool| {
        let mut dims = cx.dims(input)?.to_vec();
        if let (true, [.., rows, columns]) = (transposed, &mut dims[..]) {
            std::mem::swap(rows, columns);
        }
        Some(Fact::tensor(cx.elem(input), Shape::new(dims)))
    };
    let (a, b) = (operand(0, cx.flag("transA"))?, operand(1, cx.flag("transB"))?);
    let shape = cx.with_inputs(&[Some(&a), Some(&b)], matmul)?.shape()?.clone();
    cx.set_shape(0, shape);
    Some(())
}

/// `Gemm`: multiplies two matrices, each optionally transposed.
pub fn gemm(cx: &mut Cx) -> Option<()> {
    let (rows_of_a, rows_of_b) = (usize::from(cx.flag("transA")), usize::from(cx.flag("transB")));
    if cx.rank(0).is_some() && cx.rank(1).is_some() {
        cx.expect_rank(0, 2)?;
        cx.expect_rank(1, 2)?;
        cx.same_size((0, 1 - rows_of_a), (1, rows_of_b));
    }
    let (rows, columns) = (cx.dim(0, rows_of_a), cx.dim(1, 1 - rows_of_b));
    cx.set_dims(0, vec![rows, columns]);
    Some(())
}

fn two_sizes(cx: &mut Cx) -> Option<()> {
    cx.fault(Fault::Value { name: "equation", why: "must not use one label for axes of different sizes" });
    None
}

/// `Einsum`: each letter denotes an axis, and `...` any number of broadcast axes.
pub fn einsum(cx: &mut Cx) -> Option<()> {
    let equation: String = cx.text("equation")?.chars().filter(|c| !c.is_whitespace()).collect();
    if !equation.replacen("->", "", 1).replace("...", "").chars().all(|c| c.is_alphabetic() || c == ',') {
        let why = "must consist of letters, commas, `...` and one `->`";
        cx.fault(Fault::Value { name: "equation", why });
        return None;
    }
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
        None => (equation, None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != cx.inputs() {
        cx.fault(Fault::Value { name: "equation", why: "must have one term per input" });
        return None;
    }
    let mut sizes: IndexMap<char, Size> = IndexMap::new();
    let mut ellipsis: Vec<Size> = Vec::new();
    for (input, term) in terms.iter().enumerate() {
        let dims = cx.dims(input)?;
        let (before, after) = term.split_once("...").unwrap_or((term, ""));
        let named = before.chars().count() + after.chars().count();
        let is_open = term.contains("...");
        let Some(free) = dims.len().checked_sub(named).filter(|&free| free == 0 || is_open) else {
            let expected = if is_open { Expected::AtLeast(named) } else { Expected::Exactly(named) };
            cx.fault(Fault::Rank { input, rank: dims.len(), expected });
            return None;
        };
        let start = before.chars().count();
        let Some(both) = broadcast_shapes(&ellipsis, &dims[start..start + free], cx) else {
            return two_sizes(cx);
        };
        ellipsis = both;
        let mut of_term: IndexMap<char, Size> = IndexMap::new();
        let of_letters = dims[..start].iter().chain(&dims[start + free..]);
        for (letter, dim) in before.chars().chain(after.chars()).zip(of_letters) {
            let size = of_term.entry(letter).or_insert_with(|| dim.clone());
            // A letter that occurs twice in a term selects a diagonal, so the sizes are equal.
            let Ok(both) = meet_sizes(size, dim, cx.bounds()) else { return two_sizes(cx) };
            *size = both;
        }
        for (letter, of_term) in of_term {
            let size = sizes.entry(letter).or_insert_with(|| known(1));
            let Some(both) = broadcast_sizes(size, &of_term, cx) else { return two_sizes(cx) };
            *size = both;
        }
    }
    let right = right.unwrap_or_else(|| implicit_output(&terms));
    let (before, after) = right.split_once("...").unwrap_or((&right, ""));
    let labels: Vec<char> = before.chars().chain(after.chars()).collect();
    if labels.iter().any(|label| !sizes.contains_key(label)) {
        cx.fault(Fault::Value { name: "equation", why: "must not have a label in the output only" });
        return None;
    }
    if (1..labels.len()).any(|at| labels[..at].contains(&labels[at])) {
        cx.fault(Fault::Value { name: "equation", why: "must not have one label twice in the output" });
        return None;
    }
    let of = |letter: char| sizes.get(&letter).cloned().flatten();
    let mut dims: Vec<Size> = before.chars().map(of).collect();
    if right.contains("...") {
        dims.extend(ellipsis);
    }
    dims.extend(after.chars().map(of));
    cx.set_dims(0, dims);
    Some(())
}

/// Returns the implicit output term of an equation without `->`.
///
/// The implicit output term consists of the ellipsis, then all letters that occur once, sorted.
fn implicit_output(terms: &[&str]) -> String {
    let all: String = terms.concat().replace("...", "");
    let mut once: Vec<char> = all.chars().filter(|&c| all.matches(c).count() == 1).collect();
    once.sort_unstable();
    let ellipsis = if terms.iter().any(|term| term.contains("...")) { "..." } else { "" };
    ellipsis.chars().chain(once).collect()
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check_call, check_faults};

    #[test]
    fn matrix_products_broadcast_batches_and_drop_vector_axes() {
        check_call("float[b, 1, n, 3] x, float[h, 3, m] y", "MatMul(x, y)", "float[b, h, n, m]");
        check_call("float[3] x, float[b, 3, m] y", "MatMul(x, y)", "float[b, m]");
        check_call("float[n, 3] x, float[3] y", "MatMul(x, y)", "float[n]");
        check_call("float[3] x, float[3] y", "MatMul(x, y)", "float[]");
        check_call("float[k, n] x, float[m, k] y", "Gemm <transA = 1, transB = 1> (x, y)", "float[n, m]");
        check_call("uint8[n, 3] x, int8[3, m] y", "MatMulInteger(x, y)", "int32[n, m]");
        check_faults(
            "g (float[n, 3] x, float[4, m] y) => (z) { z = MatMul(x, y) }",
            &["axis 1 of input 0 is 3, but axis 0 of input 1 is 4"],
        );
    }

    #[test]
    fn einsum_supports_ellipsis_implicit_output_and_diagonals() {
        let equation = |text: &str| format!("Einsum <equation = \"{text}\"> (x, y)");
        let inputs = "float[b, n, 3] x, float[b, 3, m] y";
        check_call(inputs, &equation("bij,bjk->bik"), "float[b, n, m]");
        check_call(inputs, &equation("bij, bjk"), "float[n, m]");
        check_call(inputs, &equation("...ij,...jk->k...i"), "float[m, b, n]");
        check_call("float[n, n, 3] x", "Einsum <equation = \"iij->ji\"> (x)", "float[3, n]");
    }

    #[test]
    fn einsum_reports_an_invalid_equation() {
        for (equation, fault) in [
            ("ij->iq", "`equation` must not have a label in the output only"),
            ("ij->ii", "`equation` must not have one label twice in the output"),
            ("i1->i", "`equation` must consist of letters, commas, `...` and one `->`"),
        ] {
            check_faults(
                &format!("g (float[n, 3] x) => (z) {{ z = Einsum <equation = \"{equation}\"> (x) }}"),
                &[fault],
            );
        }
    }
}
