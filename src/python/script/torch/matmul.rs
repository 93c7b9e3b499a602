//! Matrix products.

use tree_sitter::Node;

use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{DType, Dim, Shape, Tensor, shown};
use super::super::value::Value;
use crate::diag::counted;

impl<'t> Machine<'t> {
    /// Returns true if autocast may change dtypes.
    pub fn is_autocast(&self) -> bool {
        self.contexts.iter().any(|context| match context {
            Value::Object(object) => {
                let instance = self.heap.instance(*object);
                let path = instance.and_then(|instance| instance.class.path());
                path.is_none_or(|path| path.ends_with("autocast"))
            }
            Value::Unknown => true,
            _ => false,
        })
    }

    /// Reports operands of different dtypes.
    pub fn same_dtype(&self, what: &str, tensors: &[&Tensor<'t>], node: Node<'t>) -> Result<(), Stop> {
        if self.is_autocast() {
            return Ok(());
        }
        let dtypes: Vec<DType> = tensors.iter().filter_map(|tensor| tensor.dtype).collect();
        let Some(other) = dtypes.iter().find(|dtype| **dtype != dtypes[0]) else { return Ok(()) };
        let message = format!(
            "`{what}` gets {} and {}, which must have the same dtype",
            dtypes[0].name(),
            other.name()
        );
        let help = "convert the example or the model: `.to(torch.float32)`, `.half()`";
        Err(self.fault(node, Fault::dtype(message, help)))
    }

    /// Evaluates `a @ b`.
    pub fn matmul(&mut self, a: &Tensor<'t>, b: &Tensor<'t>, node: Node<'t>) -> Eval<'t> {
        self.same_device(&[a, b], node)?;
        self.same_dtype("matmul", &[a, b], node)?;
        let shape = match (&a.shape, &b.shape) {
            (Some(x), Some(y)) => self.product_shape(x, y, node)?,
            _ => None,
        };
        let dtype = a.dtype.or(b.dtype).filter(|_| !self.is_autocast());
        let product = self.made(shape, dtype, &[a, b]);
        // The product of matrices is contiguous; that of a vector may be a view.
        let is_new = [a, b].iter().all(|one| one.rank().is_some_and(|rank| rank >= 3));
        Ok(if is_new { Self::contiguous_as(product, &[]) } else { product })
    }

    fn product_shape(&self, a: &[Dim], b: &[Dim], node: Node<'t>) -> Result<Shape, Stop> {
        let (Some(inner), false) = (a.last().copied(), b.is_empty()) else {
            let message = "`matmul` does not support 0-d tensors";
            return Err(self.fault(node, Fault::shape(message, "multiply with `*`")));
        };
        let other = if b.len() == 1 { b[0] } else { b[b.len() - 2] };
        if let (Some(x), Some(y)) = (inner, other)
            && x != y
        {
            let message = format!(
                "`matmul` of {} and {}: the last axis is {x}, but the axis it is multiplied with is {y}",
                shown(a),
                shown(b)
            );
            let help = "transpose an operand, or correct the size of the previous layer";
            return Err(self.fault(node, Fault::shape(message, help)));
        }
        let batch = |shape: &[Dim]| shape[..shape.len().saturating_sub(2)].to_vec();
        let mut shape = self.broadcast(&batch(a), &batch(b), node)?;
        if a.len() > 1 {
            shape.push(a[a.len() - 2]);
        }
        if b.len() > 1 {
            shape.push(b[b.len() - 1]);
        }
        Ok(Some(shape))
    }

    /// Evaluates a product of matrices of a fixed rank: `mm` and `bmm`.
    pub fn ranked_product(
        &mut self,
        name: &str,
        rank: usize,
        a: &Tensor<'t>,
        b: &Tensor<'t>,
        node: Node<'t>,
    ) -> Eval<'t> {
        for tensor in [a, b] {
            if let Some(shape) = &tensor.shape
                && shape.len() != rank
            {
                let message = format!("`{name}` expects tensors of rank {rank}, gets {}", shown(shape));
                return Err(self.fault(node, Fault::shape(message, "use `torch.matmul`")));
            }
        }
        self.matmul(a, b, node)
    }

    /// Evaluates `x @ weight.T + bias`; `what` names the layer or function.
    pub fn linear(&mut self, what: &str, x: &Tensor<'t>, weight: &Tensor<'t>, node: Node<'t>) -> Eval<'t> {
        self.same_device(&[x, weight], node)?;
        let (features, results) = (weight.dim(1), weight.dim(0));
        if let (Some(shape), Some(expected)) = (&x.shape, features) {
            match shape.last() {
                Some(Some(given)) if *given != expected => {
                    let features = counted(expected, "feature");
                    let message =
                        format!("`{what}` expects {features}, gets {given} (shape {})", shown(shape));
                    let is_layer = what.starts_with(char::is_uppercase);
                    let change = match is_layer {
                        true => format!("set `in_features` to {given}"),
                        false => "use a weight with as many features as the input".to_owned(),
                    };
                    let help =
                        format!("{change}, or correct the example so that its last axis is {expected}");
                    return Err(self.fault(node, Fault::shape(message, help)));
                }
                None => {
                    let features = counted(expected, "feature");
                    let message = format!("`{what}` expects {features}, gets a 0-d tensor");
                    return Err(self.fault(node, Fault::shape(message, "add an axis: `x.unsqueeze(0)`")));
                }
                _ => {}
            }
        }
        self.same_dtype(what, &[x, weight], node)?;
        let shape = x.shape.as_ref().map(|shape| {
            let mut shape = shape.clone();
            match weight.rank() {
                // A product with a vector has no last axis.
                Some(1) => drop(shape.pop()),
                _ => {
                    if let Some(last) = shape.last_mut() {
                        *last = results;
                    }
                }
            }
            shape
        });
        let shape = shape.filter(|_| weight.rank().is_some());
        let dtype = if self.is_autocast() { None } else { x.dtype };
        let result = self.made(shape, dtype, &[x, weight]);
        // The result is a product of matrices, also for an input in another order.
        Ok(Self::contiguous_as(result, &[]))
    }
}
