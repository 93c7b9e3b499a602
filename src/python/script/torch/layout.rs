//! Strides of tensors, which `view` needs.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Machine, Stop};
use super::super::strides::Layout;
use super::super::tensor::{Dim, Tensor, shown};
use super::super::value::Value;

/// Code that changes the strides of a tensor in place, or replaces `view`.
const CHANGES: [&str; 6] = ["channels_last", "as_strided_", ".set_(", "resize_", "setattr(", "mock"];

impl<'t> Machine<'t> {
    /// Returns the strides of a tensor, if they are known.
    fn strides<'x>(x: &'x Tensor<'t>) -> Option<&'x Layout> {
        let layout = x.layout.as_deref().filter(|layout| layout.memory == x.memory)?;
        let shape = x.shape.as_ref()?;
        let is_same = shape.len() == layout.sizes.len()
            && shape.iter().zip(&layout.sizes).all(|(size, known)| *size == Some(*known));
        is_same.then_some(layout)
    }

    /// Returns true if a tensor certainly is contiguous.
    pub fn is_contiguous(x: &Tensor<'t>) -> bool {
        Self::strides(x).is_some_and(|layout| layout.strides == row_major(&layout.sizes))
    }

    /// Returns a tensor that is contiguous.
    pub fn contiguous(mut x: Tensor<'t>) -> Tensor<'t> {
        let sizes: Option<Vec<i64>> = x.shape.as_ref().and_then(|shape| shape.iter().copied().collect());
        x.layout = sizes.map(|sizes| {
            let strides = row_major(&sizes);
            Rc::new(Layout { memory: x.memory, sizes, strides })
        });
        x
    }

    /// Returns the result of an operator that is contiguous if its operands are.
    pub fn contiguous_as(result: Value<'t>, operands: &[&Tensor<'t>]) -> Value<'t> {
        match result {
            Value::Tensor(tensor) if operands.iter().all(|one| Self::is_contiguous(one)) => {
                Value::Tensor(Rc::new(Self::contiguous((*tensor).clone())))
            }
            other => other,
        }
    }

    /// Returns a view with the axes of `x` in another order.
    pub fn reordered(result: Value<'t>, x: &Tensor<'t>, order: &[usize]) -> Value<'t> {
        let (Value::Tensor(tensor), Some(layout)) = (&result, Self::strides(x)) else { return result };
        let tensor: &Tensor<'t> = tensor;
        if order.iter().any(|at| *at >= layout.sizes.len()) || order.len() != layout.sizes.len() {
            return result;
        }
        let pick = |of: &[i64]| order.iter().map(|at| of[*at]).collect();
        let (sizes, strides) = (pick(&layout.sizes), pick(&layout.strides));
        let layout = Some(Rc::new(Layout { memory: tensor.memory, sizes, strides }));
        Value::Tensor(Rc::new(Tensor { layout, ..tensor.clone() }))
    }

    /// Reports a `view` that the strides of a tensor do not permit.
    pub fn check_view(&self, x: &Tensor<'t>, sizes: &[Dim], node: Node<'t>) -> Result<(), Stop> {
        // With other sizes, the exported file has a Reshape, which needs no strides.
        let Some(layout) = Self::strides(x).filter(|_| self.record.is_none()) else { return Ok(()) };
        let given: Option<Vec<i64>> = sizes.iter().copied().collect();
        let Some(given) = given.filter(|given| given.iter().all(|size| *size > 0)) else { return Ok(()) };
        if layout.sizes.iter().any(|size| *size <= 0)
            || permits(layout, &given)
            || self.mentions(&CHANGES)
            || self.is_patched("view")
            || self.is_patched("data")
        {
            return Ok(());
        }
        let message = format!(
            "`view` of shape {} to {} needs a contiguous tensor, but an earlier call reordered its axes",
            shown(x.shape.as_deref().unwrap_or_default()),
            shown(sizes)
        );
        Err(self.fault(node, Fault::shape(message, "use `reshape`, or call `contiguous()` before `view`")))
    }
}

/// Returns the strides of a contiguous tensor.
fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; sizes.len()];
    for at in (0..sizes.len().saturating_sub(1)).rev() {
        strides[at] = strides[at + 1].saturating_mul(sizes[at + 1].max(1));
    }
    strides
}

/// Returns true if a tensor has a view of the sizes `given`.
///
/// By the rule of PyTorch, each group of axes that are adjacent in memory is a product of new axes.
fn permits(layout: &Layout, given: &[i64]) -> bool {
    let (sizes, strides) = (&layout.sizes, &layout.strides);
    if sizes.is_empty() {
        return true;
    }
    let mut next = given.len();
    let mut base = strides[sizes.len() - 1];
    let (mut count, mut viewed) = (1i64, 1i64);
    for at in (0..sizes.len()).rev() {
        count = count.saturating_mul(sizes[at]);
        let ends = at == 0 || sizes[at - 1] != 1 && strides[at - 1] != count.saturating_mul(base);
        if !ends {
            continue;
        }
        while next > 0 && (viewed < count || given[next - 1] == 1) {
            viewed = viewed.saturating_mul(given[next - 1]);
            next -= 1;
        }
        if viewed != count {
            return false;
        }
        if at > 0 {
            base = strides[at - 1];
            count = 1;
            viewed = 1;
        }
    }
    next == 0
}

#[cfg(test)]
mod tests {
    use super::{Layout, permits};

    fn layout(sizes: &[i64], strides: &[i64]) -> Layout {
        Layout { memory: 0, sizes: sizes.to_vec(), strides: strides.to_vec() }
    }

    #[test]
    fn views_need_groups_of_adjacent_axes() {
        let turned = layout(&[2, 4, 3], &[12, 1, 4]);
        assert!(!permits(&turned, &[2, 12]));
        assert!(!permits(&turned, &[24]));
        assert!(permits(&turned, &[2, 4, 3]));
        assert!(permits(&turned, &[1, 2, 2, 2, 3]));
        assert!(permits(&layout(&[2, 3, 4], &[12, 4, 1]), &[6, 4]));
        assert!(permits(&layout(&[2, 1, 3], &[3, 1, 1]), &[2, 3]));
        assert!(permits(&layout(&[3, 4, 2], &[4, 1, 12]), &[12, 2]));
    }
}
